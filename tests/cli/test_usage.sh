#!/usr/bin/env bash
# Help, version, and calls that are no calls.
. "$(dirname "$0")/helper.sh"
commands="devices strategies multiply dot solve transpose generate explain explore sweep compare check"
commands+=" lab run tune wisdom cache help completion"

tesela 0 --version
grep -qE '^tesela [0-9]+\.[0-9]+\.[0-9]+$' "$out" || fail "the version is not a version"
tesela 0 --help
prints $commands TESELA_CACHE_DIR 'Exit codes' Examples
[ "$(wc -l <"$out")" -le 48 ] || fail "the overview has $(wc -l <"$out") lines, more than 48"
cp "$out" overview
tesela 0
same "$out" overview
tesela 0 help
same "$out" overview
names_of_options() { grep -oE '^(  -., |      )--[a-z][a-z-]*' | grep -oE -- '--[a-z-]*' | sort; }
for command in $commands; do
  tesela 0 "$command" --help
  prints "tesela $command" Examples Options "tesela help $command"
  # One screen.
  awk 'length > 100 { exit 1 }' "$out" || fail "a line of the help is longer than 100"
  [ "$(wc -l <"$out")" -le 48 ] || fail "the help of $command has $(wc -l <"$out") lines, more than 48"
  names_of_options <"$out" >brief
  tesela 0 help "$command"
  prints "tesela $command" Examples Options
  cp "$out" direct
  awk 'length > 110 { exit 1 }' "$out" || fail "a line of the help is longer than 110"
  sed -n '/^Options/,/^Examples/p' direct | names_of_options >full
  same brief full
  # The options in the examples are options of the command, by their full names.
  sed -n '/^Options/,/^Examples/p' direct | grep -oE -- '--[a-z][a-z-]*' | sort -u >options
  sed -n '/^Examples/,$p' direct | { grep -E "^ +tesela $command " || true; } |
    { grep -oE -- ' --[a-z][a-z-]*' || true; } | tr -d ' ' | sort -u >shown
  comm -13 options shown >unknown
  [ ! -s unknown ] || fail "an example of $command has $(tr '\n' ' ' <unknown)which is no option of it"
done
tesela 0 help environment
prints TESELA_LOG TESELA_DEVICE
tesela 0 help environment --markdown
prints '| `TESELA_LOG` |' '|---|'
tesela 0 help plan
prints version place types conjugate batch
tesela 0 help plan --markdown
prints '| `batch` |' '|---|'
tesela 2 help multiply --markdown
says '--markdown goes with environment and plan'

tesela 2 explain --strategy ''
says '--strategy' 'is empty'
tesela 2 transpose x.npy --alpha three
says '--alpha' '"three" is not a number'

tesela 2 multply
says 'no command "multply"' 'did you mean multiply?'
tesela 2 zzz
says '--help lists them'
tesela 2 --vresion
says 'did you mean --version'
tesela 2 multiply a.npy b.npy --verfy
says 'no option --verfy' 'did you mean --verify?'
tesela 2 multiply a.npy b.npy --zzzzzz
says 'no option --zzzzzz' '--help lists them'
tesela 2 multiply a.npy b.npy --transpose
says 'could be several'
tesela 2 multiply a.npy b.npy -x
says 'no option -x'
tesela 2 multiply a.npy b.npy -o
says '--output needs FILE'
tesela 2 multiply a.npy b.npy --alpha
says '--alpha needs NUMBER'
tesela 2 multiply a.npy b.npy --verify=3
says '--verify takes no value'
tesela 2 multiply a.npy
says 'too few arguments' 'tesela multiply A B'
tesela 2 multiply a b c
says 'too many arguments' '"c" is one too many' 'multiply A B [-o C]'
tesela 2 explore --sizes 8 --csv r.csv
says 'too many arguments: "r.csv" is one too many, as --csv prints to standard output: tesela explore --sizes 8 --csv > r.csv'
tesela 2 explore --csv=r.csv
says '--csv takes no value; it prints to standard output'
tesela 2 check cpu
says '"cpu" is one too many; write tesela check [options]'
tesela 2 wisdom list all
says '"all" is one too many; write tesela wisdom list'
for seconds in 0 0s -1 inf nan 1e308h; do
  for command in 'check --budget' 'tune 8 8 8 --budget' 'explore --seconds' \
    'sweep tile_local tile=8 --time-limit'; do
    tesela 2 $command "$seconds"
    says "\"$seconds\" is not a time above 0"
  done
done
for count in 0 -1 1.5 2147483648 nan; do
  tesela 2 check --cases "$count"
  says "\"$count\" is not a whole number from 1"
done
for rate in 0 -1 inf nan; do
  tesela 2 explain 8 8 8 --ranks 2 --gflops "$rate"
  says --gflops
done
tesela 2 help nonsense
says '"nonsense" is not one of' environment multiply
tesela 2 help --markdown
tesela 2 cache
# A mistyped word: the nearest name, |, the call. Without a name: no suggestion.
matrix a.npy 4x4
matrix b.npy 4x4
while IFS='|' read -r nearest call; do
  eval "tesela 2 $call"
  if [ -n "$nearest" ]; then
    says "did you mean $nearest?"
  elif grep -q 'did you mean' "$err"; then
    fail 'a suggestion for a word that is near to no name'
  fi
done <<'EOF'
multiply|multply a.npy b.npy
--version|--vresion
--verify|multiply a.npy b.npy --verfy
clear|cache clera
forget|wisdom frget
prefill|cache pre
fish|completion fsh
environment|help enviroment
solve|help slove
tile_local|multiply a.npy b.npy --strategy tile_locl
tile_local|explain 8 8 8 --strategy tile_lcal
tile_local|explore --sizes 8 --strategies tile_lcoal
tile|check --strategy "tile_local tlie=3"
sequential|multiply a.npy b.npy --device cpu --strategy sequental
opencl:1|multiply a.npy b.npy --device opncl:1
cuda:0|explain 8 8 8 --device cdua:0
opencl:0|check --device cpu,opecl:0
bf16|multiply a.npy b.npy --type b16
f32|check --type f64,F32
f16|explain 8 8 8 --type fp16
gelu|multiply a.npy b.npy --activation gelo
uniform|generate 4x4 -o g.npy --distribution unifrom
triangular_lower|multiply a.npy b.npy --a-is triangular_lwer
csv|multiply a.npy b.npy -o - --format cvs
gemm|explore --sizes 8 --op gem
|multiply a.npy b.npy --device gpu
|multiply a.npy b.npy --type f99
|zzz
|multiply a.npy b.npy --zzzzzz
|cache x
EOF
rm a.npy b.npy
tesela 2 completion tcsh
says '"tcsh" is not one of bash, zsh, fish'

for bad in --alpha:x --alpha:nan --alpha: --type:f99 --repeat:0 --repeat:1.5 --memory:much --memory:0 \
  --threads:0 \
  --threads:99999999 --device:gpu --device:opencl:x --device:; do
  option=${bad%%:*} value=${bad#*:}
  tesela 2 multiply a.npy b.npy "$option" "$value"
  says "$option"
done
tesela 2 multiply a.npy b.npy --beta 2
says '--add'
tesela 2 check --budget soon
says '--budget'
tesela 2 check --case other:3
says 'standard:N'
tesela 2 check --case standard:999999 --device cpu
says 'no standard case 999999'
tesela 2 check --type f32,f99
says f99 f64
tesela 2 check --strategy elemnt
says 'did you mean element?'
tesela 2 check --strategy 'tile_local edge=3'
says 'no parameter "edge"'
tesela 2 check --strategy 'tile_local tile=170'
says tile=170 16
tesela 2 explore --sizes 12,x
says '"x" is not a size'
tesela 2 explore --sizes 12,,13
says 'empty entry'
tesela 2 explore --csv --json
says exclude
for size in 10 10x 10x10x10 -3x4 1e3x4 x 99999999999999999999x1; do
  tesela 2 generate -o g.npy -- "$size"
  says 'not a size'
done
tesela 2 generate 4x4
says '-o FILE'
# An option with a value is given once, by any of its names; a flag may be repeated.
tesela 2 explain 8 8 8 --strategy element --strategy row
says '--strategy row comes after --strategy element; give one'
tesela 2 explore --sizes 8 --sizes 16
says '--sizes 16 comes after --sizes 8; write one list, with commas'
tesela 2 explore --sizes 8 --patience 3 --time-limit 4
says '--time-limit 4 comes after --patience 3'
tesela 0 explain 8 8 8 --json --json
tesela 2 generate 4x4 -o g.npy --distribution wide
says normal uniform
tesela 2 generate 4000000000x4000000000 -o g.npy
says bytes
tesela 2 generate 4x4 -o g.xyz
says .npy .mtx
tesela 2 explain 1 2 x
says K '"x"'
tesela 2 explain 1 2 3 --type i32
says i32 f64
absent g.npy g.xyz

# Standard output that cannot be written is noticed.
if [ -w /dev/full ]; then
  last="tesela --help >/dev/full"
  code=0
  "$TESELA" --help >/dev/full 2>"$err" || code=$?
  : >"$out"
  [ $code = 3 ] || fail "exit code $code instead of 3 where standard output is full"
  one_sentence
  says 'standard output'
fi

# The manual page and the completion script are what their readers take.
tesela 0 help --man
cp "$out" tesela.1
prints '.TH TESELA 1' '.SH ENVIRONMENT' 'multiply'
if command -v groff >/dev/null; then
  run 0 groff -man -Tascii -ww -z tesela.1
  [ ! -s "$err" ] || fail "groff has complaints"
fi
tesela 0 completion bash
prints '--format) words=" npy mtx csv txt"'
cp "$out" completion.sh
run 0 bash -c 'source ./completion.sh
words() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _tesela; echo "${COMPREPLY[*]}"; }
words tesela mul
words tesela multiply --transp
words tesela generate --distribution un
words tesela cache pre
words tesela explain --strategy tile'
printf '%s\n' multiply '--transpose-a --transpose-b' uniform prefill tile_local >expected
same "$out" expected

# A variable that is wrong is named.
for wrong in TESELA_DEVICE=gpu TESELA_DEVICE=cpu,gpu TESELA_ISA=sse TESELA_BLAS=mkl TESELA_THREADS=none \
  TESELA_CACHE_SIZE=large TESELA_JIT=no TESELA_SELFTEST=2; do
  last="$wrong tesela strategies" code=0
  env "$wrong" "$TESELA" strategies >"$out" 2>"$err" || code=$?
  [ $code = 2 ] || fail "exit code $code instead of 2"
  one_sentence
  says "${wrong%%=*}" "${wrong##*[=,]}"
done
for right in TESELA_DEVICE=all TESELA_DEVICE=auto TESELA_DEVICE=cpu,opencl:0 TESELA_ISA=avx2; do
  run 0 env "$right" "$TESELA" strategies
done
# Stubs of zsh's own functions print their arguments.
tesela 0 completion zsh
cp "$out" _tesela
run 0 zsh -f -c 'source ./_tesela
compadd() { print -r -- "${@[2,-1]}" | tr " " "\n" }
_describe() { print -rl -- "${(@P)2}" | sed "s/:.*//" }
_files() { print files }
complete() { words=("$@") CURRENT=$#; _tesela | grep -- "^${words[-1]}" | tr "\n" " "; print }
complete tesela mul
complete tesela multiply --transp
complete tesela generate --distribution un
complete tesela cache pre
complete tesela explain --strategy tile
complete tesela multiply fi'
printf '%s\n' 'multiply ' '--transpose-a --transpose-b ' 'uniform ' 'prefill ' 'tile_local ' 'files ' \
  >expected
same "$out" expected
tesela 0 completion fish
cp "$out" tesela.fish
run 0 env HOME="$PWD" fish -N -c 'source ./tesela.fish
for line in "tesela mul" "tesela multiply --transp" "tesela generate --distribution un" "tesela cache pre" "tesela explain --strategy tile"
  complete -C $line | string replace -r "\t.*" "" | string join " "
end
true'
same "$out" <(printf '%s\n' multiply '--transpose-a --transpose-b' uniform prefill tile_local)
