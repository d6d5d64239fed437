# One round of bnlearn's hill climbing or tabu search: Rscript peer.R hc|tabu FILE SCORE ROUNDS. Reads codes of FILE (CSV
# with a header), and prints a line of JSON like peer.py: seconds by the clock and of the processor, arcs, version.

suppressPackageStartupMessages(library(bnlearn))
arguments <- commandArgs(trailingOnly = TRUE)
rows <- read.csv(arguments[2], colClasses = "character")
rows[] <- lapply(rows, factor)
rows <- rows[vapply(rows, nlevels, 1L) > 1] # bnlearn takes no constant columns; they have no arcs in any case
score <- if (arguments[3] == "bic") list(score = "bic") else list(score = "bde", iss = 1)
climb <- get(arguments[1], envir = asNamespace("bnlearn"))
seconds <- cpu <- c()
for (round in seq_len(as.integer(arguments[4]))) {
  taken <- system.time(found <- do.call(climb, c(list(rows), score)))
  seconds <- c(seconds, taken[["elapsed"]])
  cpu <- c(cpu, taken[["user.self"]] + taken[["sys.self"]])
}
pairs <- apply(arcs(found), 1, function(arc) sprintf("[\"%s\", \"%s\"]", arc[1], arc[2]))
cat(sprintf(
  "{\"seconds\": [%s], \"cpu_seconds\": [%s], \"arcs\": [%s], \"version\": \"%s\"}\n", paste(seconds, collapse = ", "),
  paste(cpu, collapse = ", "), paste(pairs, collapse = ", "), packageVersion("bnlearn")
))
