#!/usr/bin/env bash
# Reasons on the cpu and by OpenCL: measured and predicted factors, and no reason against the measured times.
# TESELA_REASONS=all, as in the sweep: all strategies of products instead of the courses' rungs, larger sizes.
. "$(dirname "$0")/helper.sh"
python=$(python_with json)
[ -n "$python" ] || skip "needs Python 3"
device=$(kernel_devices | grep -m 1 opencl || true)
devices=cpu${device:+,$device}
rungs=$("$TESELA" strategies --json | "$python" -c 'import json, sys
print(",".join(s["name"] for s in json.load(sys.stdin)["strategies"] if s["op"] == "gemm" and s["rung"]))')

if [ "${TESELA_REASONS:-}" = all ]; then
  rungs='' sizes=128,256,512,1000
else
  sizes=32,96
fi

# The rule on the run's own numbers. Factors follow from the entries' times. An agreement has one direction
# within a factor of 2, or nearly equal factors. A reason needs an agreement beyond the noise. All else is
# printed as noise or as a wrong model. A limit takes no longer than the run.
# Limits of processors are of their nominal clock, and they run above it.
cat >rule.py <<'PYTHON'
import json, math, sys
report = json.load(open(sys.argv[1]))
key = lambda e, strategy, device: (strategy, device, e["type"], e["m"], e["n"], e["k"])
entries = {key(e, e["strategy"], e["device"]): e for e in report["entries"] if e["result"] == "right"}
direction = lambda factor: (factor > 1.05) - (factor < 1 / 1.05)
def agree(predicted, measured):
    ratio = max(predicted / measured, measured / predicted)
    return ratio <= 1.1 or ratio <= 2 and direction(predicted) == direction(measured)
compared = wrong = reasons = noisy = unexplained = 0
is_cpu = {d["name"]: d["kind"] == "cpu" or "host" in " ".join(d["capabilities"]) for d in report["devices"]}
for e in entries.values():
    if e.get("partner") is None:
        assert e.get("agreement", "unknown") == "unknown", e
        continue
    other = entries[key(e, e["partner"], e["partner_device"])]
    compared += 1
    measured, low, high = (other[a] / e[b] for a, b in (
        ("seconds", "seconds"), ("first_quartile", "third_quartile"), ("third_quartile", "first_quartile")))
    for name, value in (("measured_factor", measured), ("measured_low", low), ("measured_high", high)):
        assert math.isclose(e[name], value, rel_tol=1e-6), (e["strategy"], name, e[name], value)
    predicted = e["predicted_factor"]
    agrees = agree(predicted, measured)
    noise = not agrees and agree(predicted, min(max(predicted, low), high))
    said = e["comparison"]
    verdict = "agrees" if agrees else "noise" if noise else "model wrong"
    assert e["agreement"] == verdict, (e["strategy"], said)
    assert ("the model is wrong here: it expected %.3g, measured %.3g" % (predicted, measured)
            in said) != (agrees or noise), said
    assert ("too noisy to compare" in said) == noise, said
    if e["reason"] is not None:
        own, its = e["account"]["seconds"][e["reason"]], other["account"]["seconds"][e["reason"]]
        assert agrees and (its > own) == (measured > 1) and not low <= 1 <= high, (e["strategy"], said)
        slack = 1.61 if is_cpu[e["device"]] or is_cpu[other["device"]] else 1.06
        assert own <= slack * e["seconds"] and its <= slack * other["seconds"], (e["strategy"], said)
        reasons += 1
    if "times as fast" in said or "times slower" in said:
        assert ("times as fast" in said) == (measured > 1), (e["strategy"], said)
    wrong += not agrees and not noise
    noisy += noise
    unexplained += "no counted limit explains it" in said
assert compared > 0
print(f"{sys.argv[1]}: {compared} compared, the model is wrong in {wrong}, {reasons} with a reason, "
      f"{unexplained} without a counted limit, {noisy} too noisy")
PYTHON
tesela 0 explore --sizes $sizes --types f32,f64 --devices "$devices" ${rungs:+--strategies "$rungs"} \
  --seconds 0.01 --json
cp "$out" rungs.json
run 0 "$python" rule.py rungs.json
cat "$out"
for op in dot transpose solve; do
  tesela 0 explore --op $op --sizes 64 --types f32 --devices "$devices" --seconds 0.01 --json
  cp "$out" $op.json
  run 0 "$python" rule.py $op.json
  cat "$out"
done

# As a table, and of a sweep: the fastest value is the partner of the others.
tesela 0 explore --sizes 32 --types f32 --devices cpu --strategies sequential,blocked --seconds 0.01
prints 'Over the partner, f32, 32 x 32 x 32' 'A reason is given where the measured and the predicted factor'
tesela 0 sweep blocked rows=48,192 --sizes 32 --types f32 --devices cpu --seconds 0.01
prints model 100%
