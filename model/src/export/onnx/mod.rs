//! ONNX: the graph of [`crate::net`], norms folded, written from its weights.
mod graph;
pub mod proto;

use prost::Message;
use selfplay::bundle::tensors::{
    self, BELIEF, GLOBALS_INPUT, MOVES_LEFT, PLANES_INPUT, POLICY, WDL,
};
use selfplay::bundle::{Axis, Precision, TensorInfo};

use self::graph::{Graph, Value, int, ints};
use self::proto::{
    DimensionProto, GraphProto, ModelProto, OperatorSetIdProto, StringStringEntryProto,
    TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto, data_type,
};
use super::ExportError;
use super::layer::Layers;
use crate::net::PLIES_UNIT;
use crate::params::Weights;

/// Version of ONNX's operators that the graph uses: of 2022, so that runtimes of some years ago read it, too.
pub const OPSET: i64 = 17;
/// Version of the file format that belongs to it.
const IR_VERSION: i64 = 8;

/// The file of a network; `facts` are kept in it by name.
pub fn file(
    weights: &Weights,
    precision: Precision,
    facts: &[(&str, String)],
) -> Result<Vec<u8>, ExportError> {
    let fact = |(key, value): &(&str, String)| StringStringEntryProto {
        key: (*key).into(),
        value: value.clone(),
    };
    let model = ModelProto {
        ir_version: IR_VERSION,
        producer_name: selfplay::bundle::PROGRAM.into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        doc_string: "Policy, value and beliefs of Xiangqi and its hidden-piece variants; model.json beside it explains its \
                     input and output."
            .into(),
        graph: Some(network(weights, precision)?),
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: OPSET,
        }],
        metadata_props: facts.iter().map(fact).collect(),
    };
    Ok(model.encode_to_vec())
}

fn network(weights: &Weights, precision: Precision) -> Result<GraphProto, ExportError> {
    let mut graph = Graph::new("fanqi", precision);
    let layers = Layers::of(weights);
    let tower = tower(&mut graph, &layers, weights.config.blocks)?;
    policy(&mut graph, &layers, &tower)?;
    value(&mut graph, &layers, &tower)?;
    let features = graph.cast_to_single(&tower);
    let belief = layers.linear("belief").on_squares();
    let belief = graph.conv(&belief, &features)?;
    graph.node("Softmax", BELIEF, &[&belief], vec![int("axis", 1)]);
    let mut graph = graph.into_proto();
    graph.input = tensors::inputs().iter().map(value_info).collect();
    graph.output = tensors::outputs().iter().map(value_info).collect();
    Ok(graph)
}

/// The tower's output, `[rows, channels, 10, 9]`.
fn tower(graph: &mut Graph, layers: &Layers, blocks: u32) -> Result<Value, ExportError> {
    let planes = graph.cast_to_tower(PLANES_INPUT);
    let globals = graph.cast_to_tower(GLOBALS_INPUT);
    let stem = graph.conv(&layers.conv("stem"), &planes)?;
    let globals = graph.linear(&layers.linear("stem.globals"), &globals)?;
    let axes = graph.numbers("board.axes", &[2, 3]);
    let globals = graph.node("Unsqueeze", "stem.everywhere", &[&globals, &axes], vec![]);
    let stem = graph.node("Add", "stem.sum", &[&stem, &globals], vec![]);
    let mut x = graph.node("Relu", "stem.out", &[&stem], vec![]);
    for i in 0..blocks {
        x = block(graph, layers, &format!("blocks.{i}"), &x)?;
    }
    Ok(x)
}

fn block(graph: &mut Graph, layers: &Layers, name: &str, x: &str) -> Result<Value, ExportError> {
    let part = |part: &str| format!("{name}.{part}");
    let mut y = graph.conv(&layers.conv(&part("first")), x)?;
    let pooled = layers.linear(&part("pooled"));
    if !pooled.dims.is_empty() {
        // a part of the channels, its mean and its largest value, give every channel a bias
        let channels = pooled.row() as i64 / 2;
        let start = graph.numbers(&part("pooled.start"), &[0]);
        let end = graph.numbers(&part("pooled.end"), &[channels]);
        let axis = graph.numbers(&part("pooled.axis"), &[1]);
        let some = graph.node(
            "Slice",
            &part("pooled.in"),
            &[&y, &start, &end, &axis],
            vec![],
        );
        let some = graph.node("Relu", &part("pooled.relu"), &[&some], vec![]);
        let both = pool(graph, &part("pooled"), &some);
        let bias = graph.conv(&pooled.on_squares(), &both)?;
        y = graph.node("Add", &part("biased"), &[&y, &bias], vec![]);
    }
    let y = graph.node("Relu", &part("relu"), &[&y], vec![]);
    let y = graph.conv(&layers.conv(&part("second")), &y)?;
    let y = graph.node("Add", &part("sum"), &[&y, x], vec![]);
    Ok(graph.node("Relu", &part("out"), &[&y], vec![]))
}

/// `[rows, channels, 10, 9]` to `[rows, 2 * channels, 1, 1]`: the means, then the largest values.
fn pool(graph: &mut Graph, name: &str, x: &str) -> Value {
    let mean = graph.node("GlobalAveragePool", &format!("{name}.mean"), &[x], vec![]);
    let max = graph.node("GlobalMaxPool", &format!("{name}.max"), &[x], vec![]);
    let name = format!("{name}.both");
    graph.node("Concat", &name, &[&mean, &max], vec![int("axis", 1)])
}

fn policy(graph: &mut Graph, layers: &Layers, tower: &str) -> Result<(), ExportError> {
    let hidden = graph.conv(&layers.conv("policy_hidden"), tower)?;
    let hidden = graph.node("Relu", "policy_hidden.out", &[&hidden], vec![]);
    let logits = graph.conv(&layers.linear("policy").on_squares(), &hidden)?;
    let logits = graph.cast_to_single(&logits);
    graph.node("Flatten", POLICY, &[&logits], vec![int("axis", 1)]);
    Ok(())
}

fn value(graph: &mut Graph, layers: &Layers, tower: &str) -> Result<(), ExportError> {
    let value = graph.conv(&layers.conv("value"), tower)?;
    let value = graph.node("Relu", "value.out", &[&value], vec![]);
    let both = pool(graph, "value", &value);
    let by_square = vec![ints("perm", &[0, 2, 3, 1])];
    let squares = graph.node("Transpose", "value.by_square", &[&value], by_square);
    let flat = |graph: &mut Graph, x: &str| {
        let name = format!("{x}.flat");
        graph.node("Flatten", &name, &[x], vec![int("axis", 1)])
    };
    let (squares, both) = (flat(graph, &squares), flat(graph, &both));
    let all = graph.node(
        "Concat",
        "value.all",
        &[&squares, &both],
        vec![int("axis", 1)],
    );
    let hidden = graph.linear(&layers.linear("value_hidden"), &all)?;
    let hidden = graph.node("Relu", "value_hidden.out", &[&hidden], vec![]);
    let hidden = graph.cast_to_single(&hidden);
    let wdl = graph.linear(&layers.linear("wdl"), &hidden)?;
    graph.node("Softmax", WDL, &[&wdl], vec![int("axis", 1)]);
    let left = graph.linear(&layers.linear("moves_left"), &hidden)?;
    let left = graph.node("Softplus", "moves_left.units", &[&left], vec![]);
    let unit = graph.number("moves_left.unit", PLIES_UNIT as f32);
    graph.node("Mul", MOVES_LEFT, &[&left, &unit], vec![]);
    Ok(())
}

fn value_info(tensor: &TensorInfo) -> ValueInfoProto {
    let dim = |axis: &Axis| match axis {
        Axis::Fixed(n) => DimensionProto {
            dim_value: Some(*n as i64),
            dim_param: None,
        },
        Axis::Free(name) => DimensionProto {
            dim_value: None,
            dim_param: Some(name.clone()),
        },
    };
    let shape = TensorShapeProto {
        dim: tensor.shape.iter().map(dim).collect(),
    };
    ValueInfoProto {
        name: tensor.name.clone(),
        r#type: Some(TypeProto {
            tensor_type: Some(TensorTypeProto {
                elem_type: data_type::FLOAT,
                shape: Some(shape),
            }),
        }),
        doc_string: tensor.meaning.clone(),
    }
}
