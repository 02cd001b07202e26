//! The messages of ONNX that a network needs, with the field numbers of `onnx.proto3` at IR version 8 (the specification,
//! "Open Neural Network Exchange Intermediate Representation"; field numbers never change, so later versions read them).
//!
//! They are declared here by derive, as those of the TensorBoard files are: the schema is a thousand lines, a network needs
//! these, and neither `protoc` nor generated code has to be there.
//!
//! Lists of numbers are written one by one, as ONNX's own schema has it and every reader understands; of the packed form, the
//! default of proto3, that is not so.
use prost::Message;

/// A file.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// Version of the format.
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    /// Writer.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// Its version.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// For people.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// The network.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// The operators' versions.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Facts, by key.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// Operators of one domain.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSetIdProto {
    /// Empty: ONNX's own.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// Version.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// A fact.
#[derive(Clone, PartialEq, Message)]
pub struct StringStringEntryProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub key: String,
    /// What it is.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A graph; nodes stand after those that they read.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// Operations.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Constants.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// What is read.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// What is answered.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
}

/// An operation.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// Names of values.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of values.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Its name.
    #[prost(string, tag = "3")]
    pub name: String,
    /// The operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// Its settings.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
}

/// A setting of an operation.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// A number.
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// Numbers.
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// Which of the fields it is.
    #[prost(int32, tag = "20")]
    pub r#type: i32,
}

/// [`AttributeProto::type`] of a number.
pub const INT: i32 = 2;
/// [`AttributeProto::type`] of numbers.
pub const INTS: i32 = 7;

/// A constant.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// Shape.
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// Type of the numbers.
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    /// Name.
    #[prost(string, tag = "8")]
    pub name: String,
    /// The numbers, little-endian.
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
}

/// Types of numbers, as of [`TensorProto::data_type`].
pub mod data_type {
    /// f32.
    pub const FLOAT: i32 = 1;
    /// i8.
    pub const INT8: i32 = 3;
    /// i64.
    pub const INT64: i32 = 7;
    /// f16.
    pub const FLOAT16: i32 = 10;
}

/// An input or output.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
    /// For people.
    #[prost(string, tag = "3")]
    pub doc_string: String,
}

/// A type, of tensors here.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// Of a tensor.
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorTypeProto>,
}

/// A tensor's type.
#[derive(Clone, PartialEq, Message)]
pub struct TensorTypeProto {
    /// Of its numbers.
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    /// Its shape.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// A shape.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    /// Its axes.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<DimensionProto>,
}

/// An axis: one of the two.
#[derive(Clone, PartialEq, Message)]
pub struct DimensionProto {
    /// Its length.
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
    /// The name of a free length.
    #[prost(string, optional, tag = "2")]
    pub dim_param: Option<String>,
}
