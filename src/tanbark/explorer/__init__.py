"""The explorer: a model as one HTML page that answers questions by clicking, without a server."""

from tanbark.explorer.page import Page, explore, make_page, write_page

__all__ = ["Page", "explore", "make_page", "write_page"]
