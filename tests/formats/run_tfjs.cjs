// Prints, as JSON, the outputs of a graph model of TensorFlow.js: node run_tfjs.cjs model.json '{"x": {"shape": [1, 2], "dtype": "float32", "values": [1, 2]}}'
const fs = require("fs");
const path = require("path");
const tf = require("@tensorflow/tfjs-core");
require("@tensorflow/tfjs-backend-cpu");
const { loadGraphModel } = require("@tensorflow/tfjs-converter");

async function main(file, feeds) {
  const model = JSON.parse(fs.readFileSync(file));
  const entries = model.weightsManifest.flatMap((group) => group.weights);
  const files = model.weightsManifest.flatMap((group) => group.paths);
  const bytes = Buffer.concat(files.map((name) => fs.readFileSync(path.join(path.dirname(file), name))));
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const { modelTopology, signature, modelInitializer, initializerSignature } = model;
  const loaded = await loadGraphModel(
    tf.io.fromMemory({ modelTopology, signature, modelInitializer, initializerSignature, weightSpecs: entries, weightData: data }),
  );
  const inputs = Object.fromEntries(
    Object.entries(feeds).map(([name, { shape, dtype, values }]) => [signature.inputs[name].name, tf.tensor(values, shape, dtype)]),
  );
  const words = Object.keys(signature.outputs);
  const results = await loaded.executeAsync(inputs, words.map((word) => signature.outputs[word].name));
  const tensors = [results].flat();
  console.log(JSON.stringify(Object.fromEntries(words.map((word, place) => [word, { shape: tensors[place].shape, values: Array.from(tensors[place].dataSync()) }]))));
}

main(process.argv[2], JSON.parse(process.argv[3]));
