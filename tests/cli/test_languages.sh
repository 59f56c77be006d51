#!/usr/bin/env bash
# Languages of course, lab and the pages: chosen by --locale and by the environment; JSON is English always.
. "$(dirname "$0")/helper.sh"
python=$(python_with json)
[ -n "$python" ] || skip "needs Python 3"
export TESELA_CUDA=none
unset LANGUAGE LC_ALL LC_MESSAGES LANG

# The option, and its values.
tesela 0 course
prints 'Documents; tesela course NAME' Spanish
declare -A titles=([en]=Documents [sl]=Dokumenti [es]=Documentos [hu]=Dokumentumok [zh]=文档)
for language in "${!titles[@]}"; do
  tesela 0 course --locale "$language"
  prints "${titles[$language]}"
done
tesela 0 course --locale sl_SI.UTF-8
prints španščina
tesela 2 course --locale slo
says '--locale' '"slo" is not one of en, sl, es, hu, zh'
# The environment, by the rules of gettext; the option is stronger.
LANG=hu_HU.UTF-8 tesela 0 course
prints Dokumentumok
LANG=hu_HU.UTF-8 LC_MESSAGES=es_ES.UTF-8 tesela 0 course
prints Documentos
LANG=hu_HU.UTF-8 LC_ALL=zh_CN.UTF-8 tesela 0 course
prints 文档
LANG=de_DE.UTF-8 LANGUAGE=fr:sl tesela 0 course
prints Dokumenti
for plain in C POSIX fr_FR.UTF-8; do
  LANG=sl_SI.UTF-8 LC_ALL=$plain tesela 0 course
  prints Documents
done
LC_ALL=C LANGUAGE=sl tesela 0 course
prints Documents
LANG=hu_HU.UTF-8 tesela 0 course --locale sl
prints Dokumenti
# Other commands stay English.
LANG=sl_SI.UTF-8 tesela 0 course --help
prints 'run the experiments of a teaching document'
LANG=sl_SI.UTF-8 tesela 2 multiply
says 'too few arguments'

# JSON is equal in every language.
tesela 0 course --json
cp "$out" english.json
for language in "${!titles[@]}"; do
  LANG=$language tesela 0 course --json --locale "$language"
  cmp "$out" english.json || fail "JSON differs in $language"
done

# Columns stay below their titles where characters are two columns wide.
cat >columns.py <<'PYTHON'
import sys, unicodedata
def column(line, word):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line[: line.index(word)])
title, *rows = open(sys.argv[1], encoding="utf-8").read().splitlines()[1:7]
kernels = {column(row, row.split()[2]) for row in rows}
assert len(rows) == 5 and kernels == {column(title, "内核")}, (kernels, title)
PYTHON
tesela 0 course --locale zh
cp "$out" table.txt
run 0 "$python" columns.py table.txt

# A new folder, a fault, and the file to hand in.
tesela 0 lab new mine --from tile_local --locale sl
prints 'njegovi parametri' 'kaj storiti zdaj'
grep -q 'Spremenite `kernel.cl`, nato:' mine/README.md || fail "the README is not Slovene"
grep -q '# Kaj mora tesela vedeti o kernel.cl' mine/parameters || fail "the parameters are not in Slovene"
tesela 2 lab new mine --locale sl
says 'prav bi bilo novo ime'
tesela 2 lab run nowhere --locale es
says 'esta carpeta no tiene'
if command -v cc >/dev/null && command -v addr2line >/dev/null && [ -n "$(kernel_devices)" ]; then
  "$python" - <<'PYTHON'
text = open("mine/kernel.cl").read()
first, second, rest = text.split("barrier(CLK_LOCAL_MEM_FENCE);", 2)
open("mine/kernel.cl", "w").write(first + "barrier(CLK_LOCAL_MEM_FENCE);" + second + rest)
PYTHON
  tesela 1 lab run mine --no-race --locale sl
  prints 'napaka    manjkajoča prepreka: kernel.cl:' 'manjka druga prepreka, po uporabi' 'vrstica '
  says 'prva: manjkajoča prepreka'
  tesela 1 lab run mine --no-race --locale zh
  prints '故障      缺少屏障: kernel.cl:' '缺少使用之后的第二个屏障'
  LANG=sl_SI.UTF-8 tesela 1 lab run mine --no-race --json
  json 'j["faults"][0]["kind"] == "missing barrier" and "the second barrier" in j["faults"][0]["text"]'
  tesela 0 lab pack mine --no-race --locale hu
  prints 'hiányzó barrier' 'csomag    mine.lab.json'
  mkdir class
  cp -r mine class
  cp mine.lab.json "$out"
  json '" at line " in j["faults"][0]["text"] and "the second barrier" in j["faults"][0]["text"]'
else
  echo "not tried: faults need cc, addr2line and a device with kernels"
fi

# Pages: a trace, an exploration and kernels of the lab in each language, in a browser.
translated() {
  local code=0
  last="the page $1 in $2"
  "$python" "$TESELA_SOURCE/tests/page/languages.py" "$1" "$2" >"$out" 2>"$err" || code=$?
  case $code in
    0) ;;
    77) [ -n "${told:-}" ] || echo "not tried: pages as a browser draws them: $(cat "$out")"; told=yes ;;
    *) fail "the page $1 in $2" ;;
  esac
}
# Each language draws one kind of page; sweep_languages draws all.
declare -A kinds=([sl]=trace [es]=exploration [hu]=lab [zh]=class)
draws() { [ "${TESELA_ALL_PAGES:-}" ] || [ "${kinds[$language]}" = "$1" ]; }
for language in sl es hu zh; do
  tag=${language/zh/zh-CN}
  if draws trace; then
    LANG=$language tesela 0 explain 8 8 8 --strategy "tile_local tile=4" --trace --html trace.html
    prints 'each number below is the item that loads the element'
    grep -q "<html lang=\"$tag\">" trace.html || fail "the page is not marked as $tag"
    translated trace.html "$tag"
  fi
  if draws exploration; then
    TESELA_LAST_CACHE=2MiB tesela 0 explore --sizes 16,24 --types f32 --seconds 0.001 --devices cpu \
      --strategies sequential,sequential_optimized,host_packed --html page.html --json --locale "$language"
    json 'any("loads" in (e["comparison"] or "") for e in j["entries"])'
    translated page.html "$tag"
  fi
  [ -f mine.lab.json ] || continue
  if draws lab; then
    tesela 1 lab run mine --no-race --html lab.html --locale "$language"
    translated lab.html "$tag"
  fi
  if draws class; then
    tesela 0 lab grade class --no-race --html class.html --locale "$language"
    translated class.html "$tag"
  fi
done
