# Times an R package's TAN from inside: Rscript worker.R PACKAGE TABLE ROWS STATES. Reads the table once, then answers
# "fit", "predict", "nb_fit", "nb_predict" lines with JSON seconds. Values are single digits with commas between; "?" is a gap.

read_digits <- function(path, states) {
  bytes <- readBin(path, "raw", n = file.size(path))
  values <- matrix(bytes, nrow = 2 * length(states))[seq(1, 2 * length(states), 2), , drop = FALSE]
  columns <- lapply(seq_along(states), function(j) {
    labels <- as.character(seq_len(states[j]) - 1)
    codes <- match(values[j, ], charToRaw(paste(labels, collapse = "")))
    structure(codes, levels = labels, class = "factor")
  })
  names(columns) <- c(paste0("f", seq_along(states)[-1] - 2), "class")
  as.data.frame(columns)
}

packages <- list(
  bnlearn = list(
    structure = function(table) bnlearn::tree.bayes(table, "class"),
    naive = function(table) bnlearn::naive.bayes(table, "class"),
    parameters = function(net, table) bnlearn::bn.fit(net, table, method = "bayes"),
    predict = function(model, rows) predict(model, rows, prob = TRUE)
  ),
  bnclassify = list(
    structure = function(table) bnclassify::tan_cl("class", table, score = "loglik"),
    naive = function(table) bnclassify::nb("class", table),
    parameters = function(net, table) bnclassify::lp(net, table, smooth = 1),
    predict = function(model, rows) predict(model, rows, prob = TRUE)
  )
)

arguments <- commandArgs(trailingOnly = TRUE)
package <- packages[[arguments[1]]]
states <- as.integer(strsplit(arguments[4], ",")[[1]])
suppressPackageStartupMessages(library(arguments[1], character.only = TRUE))
table <- read_digits(arguments[2], states)
rows <- read_digits(arguments[3], states)
cat(sprintf("{\"rows\": %d}\n", nrow(table)))
flush(stdout())

model <- NULL
input <- file("stdin", open = "r")
while (length(ask <- readLines(input, n = 1)) > 0) {
  if (ask == "predict" && is.null(model)) model <- package$parameters(package$structure(table), table)
  if (ask == "nb_predict" && is.null(model)) model <- package$parameters(package$naive(table), table)
  invisible(gc())
  start <- as.numeric(Sys.time())
  invisible(switch(ask,
    fit = package$structure(table),
    nb_fit = package$parameters(package$naive(table), table),
    package$predict(model, rows)
  ))
  cat(sprintf("{\"seconds\": %.6f}\n", as.numeric(Sys.time()) - start))
  flush(stdout())
}
