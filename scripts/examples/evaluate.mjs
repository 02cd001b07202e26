// Evaluates the positions of a bundle's examples.json, and checks the answers.
// npm install onnxruntime-web; node evaluate.mjs BUNDLE (without BUNDLE: the current folder)
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import * as ort from "onnxruntime-web";

const folder = process.argv[2] ?? ".";
const net = await ort.InferenceSession.create(await readFile(`${folder}/model.onnx`));
const manifest = JSON.parse(await readFile(`${folder}/model.json`, "utf8"));
const count = manifest.planes.length;
for (const example of JSON.parse(await readFile(`${folder}/examples.json`, "utf8"))) {
  const planes = new Float32Array(count * 90);
  planes.fill(1, (count - 1) * 90); // the plane `ones`
  for (const [plane, squares] of example.planes) for (const square of squares) planes[plane * 90 + square] = 1;
  const { policy, wdl, moves_left } = await net.run({
    planes: new ort.Tensor("float32", planes, [1, count, 10, 9]),
    globals: new ort.Tensor("float32", example.globals, [1, example.globals.length]),
  });
  const weights = example.moves.map(({ index }) => Math.exp(policy.data[index]));
  const sum = weights.reduce((a, b) => a + b);
  console.log(example.form, example.fen, [...wdl.data], moves_left.data[0], "plies left");
  example.moves.slice(0, 3).forEach(({ move, prior }, i) => {
    console.log("   ", move, weights[i] / sum);
    assert(Math.abs(weights[i] / sum - prior) < 1e-4);
  });
}
