# Compares the results of two runs of a program of programs/: a line each, its name, which begins with its type, and its numbers.
# Differences are measured by the largest number of their line; hundreds of roundings of its type are allowed.
function magnitude(x) { return x < 0 ? -x : x }
NR == FNR { count[$1] = NF; for (i = 2; i <= NF; i++) expected[$1, i] = $i; next }
{
  largest = worst = 0
  results++
  if (count[$1] != NF || NF < 2 || tolower($0) ~ / -?nan/) { print "FAILED: " $1 " lacks numbers"; bad = 1; next }
  for (i = 2; i <= NF; i++) {
    if (magnitude(expected[$1, i]) > largest) largest = magnitude(expected[$1, i])
    if (magnitude($i - expected[$1, i]) > worst) worst = magnitude($i - expected[$1, i])
  }
  if (worst > 400 * ($1 ~ /^(f32|c64)/ ? 2^-24 : 2^-53) * largest) {
    printf "FAILED: %s differs by %g where the largest number is %g\n", $1, worst, largest
    bad = 1
  }
}
END {
  if (results < 10) { print "FAILED: " results + 0 " results"; bad = 1 }
  if (!bad) print results " results agree"
  exit bad
}
