//! Putting a graph together: every operation is named, and its one value has the same name.
use half::f16;
use selfplay::bundle::Precision;

use super::proto::{AttributeProto, GraphProto, INT, INTS, NodeProto, TensorProto, data_type};
use crate::export::ExportError;
use crate::export::layer::Layer;
use crate::export::quantise::Int8;

/// A graph in the making.
pub(super) struct Graph {
    precision: Precision,
    graph: GraphProto,
}

/// The name of a value.
pub(super) type Value = String;

/// A setting that is one number.
pub(super) fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: name.into(),
        i: Some(value),
        r#type: INT,
        ..Default::default()
    }
}

/// A setting that is several numbers.
pub(super) fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        name: name.into(),
        ints: values.to_vec(),
        r#type: INTS,
        ..Default::default()
    }
}

impl Graph {
    pub fn new(name: &str, precision: Precision) -> Self {
        let graph = GraphProto {
            name: name.into(),
            ..Default::default()
        };
        Graph { precision, graph }
    }

    pub fn into_proto(self) -> GraphProto {
        self.graph
    }

    /// Adds an operation.
    pub fn node(
        &mut self,
        operator: &str,
        name: &str,
        inputs: &[&str],
        attributes: Vec<AttributeProto>,
    ) -> Value {
        self.graph.node.push(NodeProto {
            input: inputs.iter().map(|&input| input.into()).collect(),
            output: vec![name.into()],
            name: name.into(),
            op_type: operator.into(),
            attribute: attributes,
        });
        name.into()
    }

    /// To the kind of number that the tower computes in; nothing to do in single precision.
    pub fn cast_to_tower(&mut self, value: &str) -> Value {
        self.cast(value, "tower", data_type::FLOAT16)
    }

    /// Back to single precision, under the name `name`.
    pub fn cast_to_single(&mut self, value: &str) -> Value {
        self.cast(value, "f32", data_type::FLOAT)
    }

    fn cast(&mut self, value: &str, suffix: &str, to: i32) -> Value {
        if self.precision != Precision::F16 {
            return value.into();
        }
        let name = format!("{value}.{suffix}");
        self.node("Cast", &name, &[value], vec![int("to", to.into())])
    }

    /// A constant list of whole numbers.
    pub fn numbers(&mut self, name: &str, values: &[i64]) -> Value {
        let raw = values.iter().flat_map(|n| n.to_le_bytes()).collect();
        self.constant(name, data_type::INT64, &[values.len() as i64], raw)
    }

    /// A constant number in single precision, for any shape.
    pub fn number(&mut self, name: &str, value: f32) -> Value {
        self.constant(name, data_type::FLOAT, &[], value.to_le_bytes().to_vec())
    }

    fn constant(&mut self, name: &str, data_type: i32, dims: &[i64], raw_data: Vec<u8>) -> Value {
        self.graph.initializer.push(TensorProto {
            dims: dims.to_vec(),
            data_type,
            name: name.into(),
            raw_data,
        });
        name.into()
    }

    /// A convolution that keeps the board's size, with its bias.
    pub fn conv(&mut self, layer: &Layer, input: &str) -> Result<Value, ExportError> {
        let [weight, bias] = self.constants(layer)?;
        let size = layer.dims.last().copied().unwrap_or(1);
        let settings = vec![
            ints("kernel_shape", &[size, size]),
            ints("pads", &[size / 2; 4]),
        ];
        let name = format!("{}.conv", layer.name);
        Ok(self.node("Conv", &name, &[input, &weight, &bias], settings))
    }

    /// A fully connected layer, with its bias.
    pub fn linear(&mut self, layer: &Layer, input: &str) -> Result<Value, ExportError> {
        let [weight, bias] = self.constants(layer)?;
        let settings = vec![int("transB", 1)];
        let name = format!("{}.linear", layer.name);
        Ok(self.node("Gemm", &name, &[input, &weight, &bias], settings))
    }

    /// Weight and bias of a layer.
    fn constants(&mut self, layer: &Layer) -> Result<[Value; 2], ExportError> {
        let half = self.precision == Precision::F16 && !layer.exact;
        let [weight, bias] = ["weight", "bias"].map(|part| format!("{}.{part}", layer.name));
        let outputs = [layer.bias.len() as i64];
        let bias = self.floats(&bias, &outputs, &layer.bias, half)?;
        if self.precision == Precision::Int8 && layer.large {
            return Ok([self.int8(&weight, layer), bias]);
        }
        let weight = self.floats(&weight, &layer.dims, &layer.weight, half)?;
        Ok([weight, bias])
    }

    fn int8(&mut self, name: &str, layer: &Layer) -> Value {
        let Int8 { weight, scale } = Int8::of(layer);
        let raw = weight.iter().map(|&w| w as u8).collect();
        let whole = self.constant(&format!("{name}.int8"), data_type::INT8, &layer.dims, raw);
        let raw = scale.iter().flat_map(|s| s.to_le_bytes()).collect();
        let outputs = [scale.len() as i64];
        let scale = self.constant(&format!("{name}.scale"), data_type::FLOAT, &outputs, raw);
        let axis = vec![int("axis", 0)];
        self.node("DequantizeLinear", name, &[&whole, &scale], axis)
    }

    fn floats(
        &mut self,
        name: &str,
        dims: &[i64],
        values: &[f32],
        half: bool,
    ) -> Result<Value, ExportError> {
        if !half {
            let raw = values.iter().flat_map(|x| x.to_le_bytes()).collect();
            return Ok(self.constant(name, data_type::FLOAT, dims, raw));
        }
        if let Some(x) = values.iter().find(|x| !f16::from_f32(**x).is_finite()) {
            let what = format!("holds {x}, too large for half precision; export it as f32");
            return Err(ExportError::Tensor {
                tensor: name.into(),
                what,
            });
        }
        let raw = values.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes());
        let raw = raw.collect();
        Ok(self.constant(name, data_type::FLOAT16, dims, raw))
    }
}
