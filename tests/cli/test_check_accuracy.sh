#!/usr/bin/env bash
# tesela check requests TESELA_ACCURACY in all cases, so that it runs what only a requested accuracy allows.
. "$(dirname "$0")/helper.sh"

checked() {
  tesela "$1" check --device cpu --strategy 'split_precision products=3' --type f32 --case standard:40
}
checked 2
says 'nothing was checked'
TESELA_ACCURACY=1e-4 checked 0
prints '1 right, 0 wrong'
TESELA_BITS=devices TESELA_ACCURACY=1e-4 checked 2
says 'nothing was checked'
echo "ok"
