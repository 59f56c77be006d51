# Products and factorisations of matrices that every run makes alike: a line each, its name and its numbers. Of large ones every
# 17th element, and in a line of its own the sums of all rows and columns, which no wrong element leaves as they are.
tell <- function(name, values) {
  if (is.complex(values)) values <- c(Re(values), Im(values))
  cat(name, sprintf("%.17g", as.vector(values)), "\n")
}
show <- function(name, values) {
  if (length(values) <= 1000) return(tell(name, values))
  tell(name, values[seq(1, length(values), 17)])
  tell(paste0(name, "_sums"), c(colSums(values), rowSums(values)))
}
make <- function(rows, cols, kind) {
  x <- outer(1:rows, 1:cols, function(i, j) sin(0.7 * i * i + 1.3 * j) + cos(0.3 * i + 0.11 * j * j))
  if (kind == "c128") x + 1i * outer(1:rows, 1:cols, function(i, j) cos(0.2 * i * j)) else x
}
options(matprod = "blas")
for (kind in c("f64", "c128")) {
  a <- make(230, 270, kind)
  b <- make(270, 190, kind)
  square <- make(150, 150, kind) + diag(60, 150)
  show(paste0(kind, "_product"), a %*% b)
  show(paste0(kind, "_crossed"), crossprod(a, make(230, 170, kind)))
  show(paste0(kind, "_crossed_back"), tcrossprod(a, make(90, 270, kind)))
  show(paste0(kind, "_square"), crossprod(a))
  show(paste0(kind, "_vector"), a %*% make(270, 1, kind))
  show(paste0(kind, "_small"), a[1:4, 1:4] %*% b[1:4, 1:4])
  show(paste0(kind, "_solve"), solve(square, make(150, 7, kind)))
  show(paste0(kind, "_inverse"), solve(square))
  show(paste0(kind, "_singular"), svd(a)$d)
}
