#!/usr/bin/env bash
# The style stage: format, include directions, file sizes, generated documents. Needs a release build.
# ci/style.sh --tidy runs clang-tidy over all sources as well (minutes).
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0
complain() { failed=1; echo "style: $*" >&2; }

mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cl' '*.cu' | sort -u)

# Formatting differs between versions of clang-format; version 14 decides.
formatter=$(command -v clang-format-14 || command -v clang-format)
if "$formatter" --version | grep -q 'version 14'; then
  while read -r file; do
    complain "$file: not formatted; run clang-format -i"
  done < <(printf '%s\0' "${sources[@]}" | xargs -0 -P "$(nproc)" -n 100 "$formatter" --dry-run 2>&1 |
    sed -n 's/:[0-9:]* warning: .*//p' | sort -u)
else
  echo "style: format not checked: needs clang-format 14, this is $("$formatter" --version)"
fi

python3 ci/include_graph.py || complain "the include graph has an arrow that points the wrong way"
python3 ci/symbol_graph.py || complain "files go in a circle by what they call"

python3 ci/prose.py --self-test >/dev/null || complain "ci/prose.py does not find a planted breach"
python3 ci/prose.py || complain "the language got worse (CODING_STYLE.md, Words)"
python3 ci/parameter_names.py --self-test >/dev/null ||
  complain "ci/parameter_names.py misses a planted parameter"
python3 ci/parameter_names.py ||
  complain "a parameter is named of, at, to, given, own, one or made (CODING_STYLE.md)"

python3 ci/catalogues.py --self-test >/dev/null || complain "ci/catalogues.py misses a planted fault"
python3 ci/catalogues.py || complain "a catalogue of translations is not complete (CONTRIBUTING.md)"

python3 ci/one_user_hooks.py --self-test || complain "ci/one_user_hooks.py misses a planted hook"
python3 ci/one_user_hooks.py >/dev/null || complain "a hook has one user: ci/one_user_hooks.py"
python3 ci/mnk_structs.py --self-test || complain "ci/mnk_structs.py misses a planted struct"
python3 ci/mnk_structs.py >/dev/null || complain "one more struct has m, n and k: ci/mnk_structs.py"

for file in "${sources[@]}"; do
  lines=$(wc -l <"$file")
  case $file in *.cl | *.cu) limit=500 ;; include/*) limit=1000 ;; *) limit=800 ;; esac
  [ "$lines" -le "$limit" ] || complain "$file: $lines lines, at most $limit"
done

tesela=build/release/bin/tesela
ci/ladder.sh "$tesela" | cmp -s - docs/LADDER.md ||
  complain "docs/LADDER.md is stale: ci/ladder.sh $tesela >docs/LADDER.md"
ci/ladder.sh --measured "$tesela" | cmp -s - docs/lab/ladder.md ||
  complain "docs/lab/ladder.md is stale: ci/ladder.sh --measured $tesela >docs/lab/ladder.md"
python3 ci/result_tables.py --check || complain "tables of results are stale: ci/result_tables.py --write"
python3 ci/rate_picture.py --check || complain "docs/rates.svg is stale: ci/rate_picture.py"
python3 ci/document_links.py || complain "a document has a link that leads nowhere"
doxygen docs/Doxyfile >/dev/null || complain "the reference pages have warnings: make docs"
for page in environment:ENVIRONMENT plan:PLANS; do
  "$tesela" help "${page%:*}" --markdown | cmp -s - "docs/${page#*:}.md" ||
    complain "docs/${page#*:}.md is stale: $tesela help ${page%:*} --markdown >docs/${page#*:}.md"
done

if [ "${1:-}" = --tidy ]; then
  git ls-files 'src/*.c' 'tools/*.c' |
    xargs -P "$(nproc)" -n 4 clang-tidy -p build/release --quiet 2>/dev/null ||
    complain "clang-tidy has complaints"
fi
[ $failed = 0 ] && echo "style: $((${#sources[@]})) files, no complaints"
exit $failed
