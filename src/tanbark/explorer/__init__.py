"""The explorer: one HTML page with exact inference in a network, without a server."""

from tanbark.explorer.page import Page, explore, make_page, write_page

__all__ = ["Page", "explore", "make_page", "write_page"]
