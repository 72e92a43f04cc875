"""Signatures of the ops of TensorFlow; scripts/regenerate.py writes the file from the catalog."""

from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from ..graph.graph import Node, Output
from ..types.tensors import FuncRef, Tensor
from .built_variables import DTypeLike, OutputLike, OutputsOrNode, ShapeLike, TensorLike

def op_names() -> list[str]: ...

class RawOps:
    def apply(self, op: str, *inputs: Any, name: str | None = None, **attrs: Any) -> Any: ...
    def A(self, *, name: str | None = None) -> Output:
        """Add a node of type A and return the Output."""
    def Abort(self, *, error_msg: str | bytes = '', exit_without_error: bool = False, name: str | None = None) -> Node:
        """Raise a exception to abort the process when called."""
    def Abs(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the absolute value of a tensor."""
    def AccumulateNV2(self, inputs: Sequence[TensorLike], /, *, shape: ShapeLike, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the element-wise sum of a list of tensors."""
    def AccumulatorApplyGradient(self, handle: OutputLike, local_step: TensorLike, gradient: TensorLike, /, *, dtype: DTypeLike | None = None, name: str | None = None) -> Node:
        """Applies a gradient to a given accumulator."""
    def AccumulatorNumAccumulated(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the number of gradients aggregated in the given accumulators."""
    def AccumulatorSetGlobalStep(self, handle: OutputLike, new_global_step: TensorLike, /, *, name: str | None = None) -> Node:
        """Updates the accumulator with a new value for global_step."""
    def AccumulatorTakeGradient(self, handle: OutputLike, num_required: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Extracts the average gradient in the given ConditionalAccumulator."""
    def Acos(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes acos of x element-wise."""
    def Acosh(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes inverse hyperbolic cosine of x element-wise."""
    def Add(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns x + y element-wise."""
    def AddManySparseToTensorsMap(self, sparse_indices: TensorLike, sparse_values: TensorLike, sparse_shape: TensorLike, /, *, T: DTypeLike | None = None, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add an `N`-minibatch `SparseTensor` to a `SparseTensorsMap`, return `N` handles."""
    def AddN(self, inputs: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add all input tensors element wise."""
    def AddSparseToTensorsMap(self, sparse_indices: TensorLike, sparse_values: TensorLike, sparse_shape: TensorLike, /, *, T: DTypeLike | None = None, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a `SparseTensor` to a `SparseTensorsMap` return its handle."""
    def AddV2(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns x + y element-wise."""
    def AdjustContrast(self, images: TensorLike, contrast_factor: TensorLike, min_value: TensorLike, max_value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Deprecated."""
    def AdjustContrastv2(self, images: TensorLike, contrast_factor: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Adjust the contrast of one or more images."""
    def AdjustHue(self, images: TensorLike, delta: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Adjust the hue of one or more images."""
    def AdjustSaturation(self, images: TensorLike, scale: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Adjust the saturation of one or more images."""
    def All(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the "logical and" of elements across dimensions of a tensor."""
    def AllCandidateSampler(self, true_classes: TensorLike, /, *, num_true: int, num_sampled: int, unique: bool, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Generates labels for candidate sampling with a learned unigram distribution."""
    def AllToAll(self, input: TensorLike, group_assignment: TensorLike, /, *, concat_dimension: int, split_dimension: int, split_count: int, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """An Op to exchange data across TPU replicas."""
    def Angle(self, input: TensorLike, /, *, T: DTypeLike = ..., Tout: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns the argument of a complex number."""
    def AnonymousHashTable(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, name: str | None = None) -> Output:
        """Creates a uninitialized anonymous hash table."""
    def AnonymousIterator(self, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """A container for an iterator resource."""
    def AnonymousIteratorV2(self, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, Output]:
        """A container for an iterator resource."""
    def AnonymousIteratorV3(self, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """A container for an iterator resource."""
    def AnonymousMemoryCache(self, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type AnonymousMemoryCache and return a tuple of Outputs."""
    def AnonymousMultiDeviceIterator(self, *, devices: Sequence[str | bytes], output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, Output]:
        """A container for a multi device iterator resource."""
    def AnonymousMultiDeviceIteratorV3(self, *, devices: Sequence[str | bytes], output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """A container for a multi device iterator resource."""
    def AnonymousMutableDenseHashTable(self, empty_key: TensorLike, deleted_key: TensorLike, /, *, value_dtype: DTypeLike, key_dtype: DTypeLike | None = None, value_shape: ShapeLike = ..., initial_num_buckets: int = 131072, max_load_factor: float = 0.800000011920929, name: str | None = None) -> Output:
        """Creates an empty anonymous mutable hash table that uses tensors as the backing store."""
    def AnonymousMutableHashTable(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, name: str | None = None) -> Output:
        """Creates an empty anonymous mutable hash table."""
    def AnonymousMutableHashTableOfTensors(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, value_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Creates an empty anonymous mutable hash table of vector values."""
    def AnonymousRandomSeedGenerator(self, seed: TensorLike, seed2: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type AnonymousRandomSeedGenerator and return a tuple of Outputs."""
    def AnonymousSeedGenerator(self, seed: TensorLike, seed2: TensorLike, reshuffle: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type AnonymousSeedGenerator and return a tuple of Outputs."""
    def Any(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the "logical or" of elements across dimensions of a tensor."""
    def ApplyAdaMax(self, var: OutputLike, m: OutputLike, v: OutputLike, beta1_power: TensorLike, lr: TensorLike, beta1: TensorLike, beta2: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the AdaMax algorithm."""
    def ApplyAdadelta(self, var: OutputLike, accum: OutputLike, accum_update: OutputLike, lr: TensorLike, rho: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the adadelta scheme."""
    def ApplyAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Output:
        """Update '*var' according to the adagrad scheme."""
    def ApplyAdagradDA(self, var: OutputLike, gradient_accumulator: OutputLike, gradient_squared_accumulator: OutputLike, grad: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, global_step: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the proximal adagrad scheme."""
    def ApplyAdagradV2(self, var: OutputLike, accum: OutputLike, lr: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Output:
        """Update '*var' according to the adagrad scheme."""
    def ApplyAdam(self, var: OutputLike, m: OutputLike, v: OutputLike, beta1_power: TensorLike, beta2_power: TensorLike, lr: TensorLike, beta1: TensorLike, beta2: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the Adam algorithm."""
    def ApplyAddSign(self, var: OutputLike, m: OutputLike, lr: TensorLike, alpha: TensorLike, sign_decay: TensorLike, beta: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the AddSign update."""
    def ApplyCenteredRMSProp(self, var: OutputLike, mg: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the centered RMSProp algorithm."""
    def ApplyFtrl(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the Ftrl-proximal scheme."""
    def ApplyFtrlV2(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, l2_shrinkage: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the Ftrl-proximal scheme."""
    def ApplyGradientDescent(self, var: OutputLike, alpha: TensorLike, delta: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update '*var' by subtracting 'alpha' * 'delta' from it."""
    def ApplyMomentum(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, momentum: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the momentum scheme."""
    def ApplyPowerSign(self, var: OutputLike, m: OutputLike, lr: TensorLike, logbase: TensorLike, sign_decay: TensorLike, beta: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the AddSign update."""
    def ApplyProximalAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update '*var' and '*accum' according to FOBOS with Adagrad learning rate."""
    def ApplyProximalGradientDescent(self, var: OutputLike, alpha: TensorLike, l1: TensorLike, l2: TensorLike, delta: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update '*var' as FOBOS algorithm with fixed learning rate."""
    def ApplyRMSProp(self, var: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the RMSProp algorithm."""
    def ApproxTopK(self, input: TensorLike, /, *, k: int, reduction_dimension: int = -1, recall_target: float = 0.949999988079071, is_max_k: bool = True, reduction_input_size_override: int = -1, aggregate_to_topk: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Returns min/max k values and their indices of the input operand in an approximate manner."""
    def ApproximateEqual(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, tolerance: float = 9.999999747378752e-06, name: str | None = None) -> Output:
        """Returns the truth value of abs(x-y) < tolerance element-wise."""
    def ArgMax(self, input: TensorLike, dimension: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., output_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns the index with the largest value across dimensions of a tensor."""
    def ArgMin(self, input: TensorLike, dimension: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., output_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns the index with the smallest value across dimensions of a tensor."""
    def AsString(self, input: TensorLike, /, *, T: DTypeLike | None = None, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1, fill: str | bytes = '', name: str | None = None) -> Output:
        """Converts each entry in the given tensor to strings."""
    def Asin(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the trignometric inverse sine of x element-wise."""
    def Asinh(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes inverse hyperbolic sine of x element-wise."""
    def Assert(self, condition: TensorLike, data: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, summarize: int = 3, name: str | None = None) -> Node:
        """Asserts that the given condition is true."""
    def AssertCardinalityDataset(self, input_dataset: OutputLike, cardinality: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type AssertCardinalityDataset and return the Output."""
    def AssertNextDataset(self, input_dataset: OutputLike, transformations: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """A transformation that asserts which transformations happen next."""
    def AssertPrevDataset(self, input_dataset: OutputLike, transformations: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """A transformation that asserts which transformations happened previously."""
    def Assign(self, ref: OutputLike, value: TensorLike, /, *, T: DTypeLike | None = None, validate_shape: bool = True, use_locking: bool = True, name: str | None = None) -> Output:
        """Update 'ref' by assigning 'value' to it."""
    def AssignAdd(self, ref: OutputLike, value: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update 'ref' by adding 'value' to it."""
    def AssignAddVariableOp(self, resource: OutputLike, value: TensorLike, /, *, dtype: DTypeLike | None = None, name: str | None = None) -> Node:
        """Adds a value to the current value of a variable."""
    def AssignSub(self, ref: OutputLike, value: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update 'ref' by subtracting 'value' from it."""
    def AssignSubVariableOp(self, resource: OutputLike, value: TensorLike, /, *, dtype: DTypeLike | None = None, name: str | None = None) -> Node:
        """Subtracts a value from the current value of a variable."""
    def AssignVariableOp(self, resource: OutputLike, value: TensorLike, /, *, dtype: DTypeLike | None = None, validate_shape: bool = False, name: str | None = None) -> Node:
        """Assigns a new value to a variable."""
    def AssignVariableXlaConcatND(self, resource: OutputLike, inputs: Sequence[TensorLike], /, *, num_concats: Sequence[int], T: DTypeLike | None = None, N: int | None = None, paddings: Sequence[int] = ..., name: str | None = None) -> Node:
        """Concats input tensor across all dimensions."""
    def Atan(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the trignometric inverse tangent of x element-wise."""
    def Atan2(self, y: TensorLike, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes arctangent of `y/x` element-wise, respecting signs of the arguments."""
    def Atanh(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes inverse hyperbolic tangent of x element-wise."""
    def Attr(self, *, a: int, name: str | None = None) -> Node:
        """Add a node of type Attr and return the Node."""
    def AttrBool(self, *, a: bool, name: str | None = None) -> Node:
        """Add a node of type AttrBool and return the Node."""
    def AttrBoolList(self, *, a: Sequence[bool], name: str | None = None) -> Node:
        """Add a node of type AttrBoolList and return the Node."""
    def AttrDefault(self, *, a: str | bytes = 'banana', name: str | None = None) -> Node:
        """Add a node of type AttrDefault and return the Node."""
    def AttrEmptyListDefault(self, *, a: Sequence[float] = ..., name: str | None = None) -> Node:
        """Add a node of type AttrEmptyListDefault and return the Node."""
    def AttrEnum(self, *, a: Literal['apples', 'oranges'] | bytes, name: str | None = None) -> Node:
        """Add a node of type AttrEnum and return the Node."""
    def AttrEnumList(self, *, a: Sequence[Literal['apples', 'oranges'] | bytes], name: str | None = None) -> Node:
        """Add a node of type AttrEnumList and return the Node."""
    def AttrFloat(self, *, a: float, name: str | None = None) -> Node:
        """Add a node of type AttrFloat and return the Node."""
    def AttrListDefault(self, *, a: Sequence[int] = ..., name: str | None = None) -> Node:
        """Add a node of type AttrListDefault and return the Node."""
    def AttrListMin(self, *, a: Sequence[int], name: str | None = None) -> Node:
        """Add a node of type AttrListMin and return the Node."""
    def AttrListTypeDefault(self, a: Sequence[TensorLike], b: Sequence[TensorLike], /, *, T: DTypeLike = ..., N: int | None = None, name: str | None = None) -> Node:
        """Add a node of type AttrListTypeDefault and return the Node."""
    def AttrMin(self, *, a: int, name: str | None = None) -> Node:
        """Add a node of type AttrMin and return the Node."""
    def AttrPartialShape(self, *, a: ShapeLike, name: str | None = None) -> Node:
        """Add a node of type AttrPartialShape and return the Node."""
    def AttrPartialShapeList(self, *, a: Sequence[ShapeLike], name: str | None = None) -> Node:
        """Add a node of type AttrPartialShapeList and return the Node."""
    def AttrShape(self, *, a: ShapeLike, name: str | None = None) -> Node:
        """Add a node of type AttrShape and return the Node."""
    def AttrShapeList(self, *, a: Sequence[ShapeLike], name: str | None = None) -> Node:
        """Add a node of type AttrShapeList and return the Node."""
    def AttrTypeDefault(self, a: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Node:
        """Add a node of type AttrTypeDefault and return the Node."""
    def AudioMicrofrontend(self, audio: TensorLike, /, *, sample_rate: int = 16000, window_size: int = 25, window_step: int = 10, num_channels: int = 32, upper_band_limit: float = 7500.0, lower_band_limit: float = 125.0, smoothing_bits: int = 10, even_smoothing: float = 0.02500000037252903, odd_smoothing: float = 0.05999999865889549, min_signal_remaining: float = 0.05000000074505806, enable_pcan: bool = False, pcan_strength: float = 0.949999988079071, pcan_offset: float = 80.0, gain_bits: int = 21, enable_log: bool = True, scale_shift: int = 6, left_context: int = 0, right_context: int = 0, frame_stride: int = 1, zero_padding: bool = False, out_scale: int = 1, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type AudioMicrofrontend and return the Output."""
    def AudioSpectrogram(self, input: TensorLike, /, *, window_size: int, stride: int, magnitude_squared: bool = False, name: str | None = None) -> Output:
        """Produces a visualization of audio data over time."""
    def AudioSummary(self, tag: TensorLike, tensor: TensorLike, /, *, sample_rate: float, max_outputs: int = 3, name: str | None = None) -> Output:
        """Outputs a `Summary` protocol buffer with audio."""
    def AudioSummaryV2(self, tag: TensorLike, tensor: TensorLike, sample_rate: TensorLike, /, *, max_outputs: int = 3, name: str | None = None) -> Output:
        """Outputs a `Summary` protocol buffer with audio."""
    def AutoShardDataset(self, input_dataset: OutputLike, num_workers: TensorLike, index: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], auto_shard_policy: int = 0, num_replicas: int = 0, name: str | None = None) -> Output:
        """Creates a dataset that shards the input dataset."""
    def AvgPool(self, value: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Performs average pooling on the input."""
    def AvgPool3D(self, input: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Performs 3D average pooling on the input."""
    def AvgPool3DGrad(self, orig_input_shape: TensorLike, grad: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes gradients of average pooling function."""
    def AvgPoolGrad(self, orig_input_shape: TensorLike, grad: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes gradients of the average pooling function."""
    def B(self, *, name: str | None = None) -> Output:
        """Add a node of type B and return the Output."""
    def BandedTriangularSolve(self, matrix: TensorLike, rhs: TensorLike, /, *, lower: bool = True, adjoint: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BandedTriangularSolve and return the Output."""
    def Barrier(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Defines a barrier that persists across different graph executions."""
    def BarrierClose(self, handle: OutputLike, /, *, cancel_pending_enqueues: bool = False, name: str | None = None) -> Node:
        """Closes the given barrier."""
    def BarrierIncompleteSize(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Computes the number of incomplete elements in the given barrier."""
    def BarrierInsertMany(self, handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, component_index: int, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """For each key, assigns the respective value to the specified component."""
    def BarrierReadySize(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Computes the number of complete elements in the given barrier."""
    def BarrierTakeMany(self, handle: OutputLike, num_elements: TensorLike, /, *, component_types: Sequence[DTypeLike], allow_small_batch: bool = False, wait_for_incomplete: bool = False, timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Takes the given number of completed elements from a barrier."""
    def Batch(self, in_tensors: Sequence[TensorLike], /, *, num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int, grad_timeout_micros: int, max_enqueued_batches: int = 10, allowed_batch_sizes: Sequence[int] = ..., container: str | bytes = '', shared_name: str | bytes = '', batching_queue: str | bytes = '', T: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Batches all input tensors nondeterministically."""
    def BatchCholesky(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchCholesky and return the Output."""
    def BatchCholeskyGrad(self, l: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchCholeskyGrad and return the Output."""
    def BatchDataset(self, input_dataset: OutputLike, batch_size: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that batches `batch_size` elements from `input_dataset`."""
    def BatchDatasetV2(self, input_dataset: OutputLike, batch_size: TensorLike, drop_remainder: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], parallel_copy: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that batches `batch_size` elements from `input_dataset`."""
    def BatchFFT(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BatchFFT and return the Output."""
    def BatchFFT2D(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BatchFFT2D and return the Output."""
    def BatchFFT3D(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BatchFFT3D and return the Output."""
    def BatchFunction(self, in_tensors: Sequence[TensorLike], captured_tensors: Sequence[TensorLike], /, *, f: FuncRef | str, num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int, Tout: Sequence[DTypeLike], max_enqueued_batches: int = 10, allowed_batch_sizes: Sequence[int] = ..., container: str | bytes = '', shared_name: str | bytes = '', batching_queue: str | bytes = '', low_priority_max_batch_size: int = 0, low_priority_batch_timeout_micros: int = 0, low_priority_allowed_batch_sizes: Sequence[int] = ..., low_priority_max_enqueued_batches: int = 0, mixed_priority_policy: Literal['low_priority_padding_with_max_batch_size', 'low_priority_padding_with_next_allowed_batch_size', 'priority_isolation', 'priority_merge'] | bytes = 'low_priority_padding_with_max_batch_size', batch_padding_policy: Literal['PAD_UP', 'BATCH_DOWN', 'MINIMIZE_TPU_COST_PER_REQUEST'] | bytes = 'PAD_UP', Tin: Sequence[DTypeLike] | None = None, Tcaptured: Sequence[DTypeLike] | None = None, enable_large_batch_splitting: bool = False, name: str | None = None) -> tuple[Output, ...]:
        """Batches all the inputs tensors to the computation done by the function."""
    def BatchIFFT(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BatchIFFT and return the Output."""
    def BatchIFFT2D(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BatchIFFT2D and return the Output."""
    def BatchIFFT3D(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BatchIFFT3D and return the Output."""
    def BatchMatMul(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False, grad_y: bool = False, name: str | None = None) -> Output:
        """Multiplies slices of two tensors in batches."""
    def BatchMatMulV2(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False, grad_y: bool = False, name: str | None = None) -> Output:
        """Multiplies slices of two tensors in batches."""
    def BatchMatMulV3(self, x: TensorLike, y: TensorLike, /, *, Tout: DTypeLike, Ta: DTypeLike | None = None, Tb: DTypeLike | None = None, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False, grad_y: bool = False, name: str | None = None) -> Output:
        """Multiplies slices of two tensors in batches."""
    def BatchMatrixBandPart(self, input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchMatrixBandPart and return the Output."""
    def BatchMatrixDeterminant(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchMatrixDeterminant and return the Output."""
    def BatchMatrixDiag(self, diagonal: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchMatrixDiag and return the Output."""
    def BatchMatrixDiagPart(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchMatrixDiagPart and return the Output."""
    def BatchMatrixInverse(self, input: TensorLike, /, *, adjoint: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchMatrixInverse and return the Output."""
    def BatchMatrixSetDiag(self, input: TensorLike, diagonal: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchMatrixSetDiag and return the Output."""
    def BatchMatrixSolve(self, matrix: TensorLike, rhs: TensorLike, /, *, adjoint: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchMatrixSolve and return the Output."""
    def BatchMatrixSolveLs(self, matrix: TensorLike, rhs: TensorLike, l2_regularizer: TensorLike, /, *, T: DTypeLike | None = None, fast: bool = True, name: str | None = None) -> Output:
        """Add a node of type BatchMatrixSolveLs and return the Output."""
    def BatchMatrixTriangularSolve(self, matrix: TensorLike, rhs: TensorLike, /, *, lower: bool = True, adjoint: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchMatrixTriangularSolve and return the Output."""
    def BatchNormWithGlobalNormalization(self, t: TensorLike, m: TensorLike, v: TensorLike, beta: TensorLike, gamma: TensorLike, /, *, variance_epsilon: float, scale_after_normalization: bool, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Batch normalization."""
    def BatchNormWithGlobalNormalizationGrad(self, t: TensorLike, m: TensorLike, v: TensorLike, gamma: TensorLike, backprop: TensorLike, /, *, variance_epsilon: float, scale_after_normalization: bool, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Gradients for batch normalization."""
    def BatchSelfAdjointEig(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchSelfAdjointEig and return the Output."""
    def BatchSelfAdjointEigV2(self, input: TensorLike, /, *, compute_v: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type BatchSelfAdjointEigV2 and return a tuple of Outputs."""
    def BatchSvd(self, input: TensorLike, /, *, compute_uv: bool = True, full_matrices: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type BatchSvd and return a tuple of Outputs."""
    def BatchToSpace(self, input: TensorLike, crops: TensorLike, /, *, block_size: int, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """BatchToSpace for 4-D tensors of type T."""
    def BatchToSpaceND(self, input: TensorLike, block_shape: TensorLike, crops: TensorLike, /, *, T: DTypeLike | None = None, Tblock_shape: DTypeLike = ..., Tcrops: DTypeLike = ..., name: str | None = None) -> Output:
        """BatchToSpace for N-D tensors of type T."""
    def BesselI0(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BesselI0 and return the Output."""
    def BesselI0e(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BesselI0e and return the Output."""
    def BesselI1(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BesselI1 and return the Output."""
    def BesselI1e(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BesselI1e and return the Output."""
    def BesselJ0(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BesselJ0 and return the Output."""
    def BesselJ1(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BesselJ1 and return the Output."""
    def BesselK0(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BesselK0 and return the Output."""
    def BesselK0e(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BesselK0e and return the Output."""
    def BesselK1(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BesselK1 and return the Output."""
    def BesselK1e(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BesselK1e and return the Output."""
    def BesselY0(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BesselY0 and return the Output."""
    def BesselY1(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BesselY1 and return the Output."""
    def Betainc(self, a: TensorLike, b: TensorLike, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Compute the regularized incomplete beta integral \\\\(I_x(a, b)\\\\)."""
    def BiasAdd(self, value: TensorLike, bias: TensorLike, /, *, T: DTypeLike | None = None, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', name: str | None = None) -> Output:
        """Adds `bias` to `value`."""
    def BiasAddGrad(self, out_backprop: TensorLike, /, *, T: DTypeLike | None = None, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', name: str | None = None) -> Output:
        """The backward operation for "BiasAdd" on the "bias" tensor."""
    def BiasAddV1(self, value: TensorLike, bias: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Adds `bias` to `value`."""
    def Binary(self, a: TensorLike, b: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Binary and return the Output."""
    def Bincount(self, arr: TensorLike, size: TensorLike, weights: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Counts the number of occurrences of each value in an integer array."""
    def Bitcast(self, input: TensorLike, /, *, type: DTypeLike, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Bitcasts a tensor from one type to another without copying data."""
    def BitwiseAnd(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Elementwise computes the bitwise AND of `x` and `y`."""
    def BitwiseOr(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Elementwise computes the bitwise OR of `x` and `y`."""
    def BitwiseXor(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Elementwise computes the bitwise XOR of `x` and `y`."""
    def BlockLSTM(self, seq_len_max: TensorLike, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, /, *, forget_bias: float = 1.0, cell_clip: float = 3.0, use_peephole: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Computes the LSTM cell forward propagation for all the time steps."""
    def BlockLSTMGrad(self, seq_len_max: TensorLike, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, i: TensorLike, cs: TensorLike, f: TensorLike, o: TensorLike, ci: TensorLike, co: TensorLike, h: TensorLike, cs_grad: TensorLike, h_grad: TensorLike, /, *, use_peephole: bool, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output, Output]:
        """Computes the LSTM cell backward propagation for the entire time sequence."""
    def BlockLSTMGradV2(self, seq_len_max: TensorLike, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, i: TensorLike, cs: TensorLike, f: TensorLike, o: TensorLike, ci: TensorLike, co: TensorLike, h: TensorLike, cs_grad: TensorLike, h_grad: TensorLike, /, *, use_peephole: bool, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output, Output]:
        """Computes the LSTM cell backward propagation for the entire time sequence."""
    def BlockLSTMV2(self, seq_len_max: TensorLike, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, /, *, cell_clip: float = 0.0, use_peephole: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Computes the LSTM cell forward propagation for all the time steps."""
    def BoostedTreesAggregateStats(self, node_ids: TensorLike, gradients: TensorLike, hessians: TensorLike, feature: TensorLike, /, *, max_splits: int, num_buckets: int, name: str | None = None) -> Output:
        """Aggregates the summary of accumulated stats for the batch."""
    def BoostedTreesBucketize(self, float_values: Sequence[TensorLike], bucket_boundaries: Sequence[TensorLike], /, *, num_features: int | None = None, name: str | None = None) -> OutputsOrNode:
        """Bucketize each feature based on bucket boundaries."""
    def BoostedTreesCalculateBestFeatureSplit(self, node_id_range: TensorLike, stats_summary: TensorLike, l1: TensorLike, l2: TensorLike, tree_complexity: TensorLike, min_node_weight: TensorLike, /, *, logits_dimension: int, split_type: Literal['inequality', 'equality'] | bytes = 'inequality', name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Calculates gains for each feature and returns the best possible split information for the feature."""
    def BoostedTreesCalculateBestFeatureSplitV2(self, node_id_range: TensorLike, stats_summaries_list: Sequence[TensorLike], split_types: TensorLike, candidate_feature_ids: TensorLike, l1: TensorLike, l2: TensorLike, tree_complexity: TensorLike, min_node_weight: TensorLike, /, *, logits_dimension: int, num_features: int | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output, Output]:
        """Calculates gains for each feature and returns the best possible split information for each node."""
    def BoostedTreesCalculateBestGainsPerFeature(self, node_id_range: TensorLike, stats_summary_list: Sequence[TensorLike], l1: TensorLike, l2: TensorLike, tree_complexity: TensorLike, min_node_weight: TensorLike, /, *, max_splits: int, num_features: int | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Calculates gains for each feature and returns the best possible split information for the feature."""
    def BoostedTreesCenterBias(self, tree_ensemble_handle: OutputLike, mean_gradients: TensorLike, mean_hessians: TensorLike, l1: TensorLike, l2: TensorLike, /, *, name: str | None = None) -> Output:
        """Calculates the prior from the training data (the bias) and fills in the first node with the logits' prior."""
    def BoostedTreesCreateEnsemble(self, tree_ensemble_handle: OutputLike, stamp_token: TensorLike, tree_ensemble_serialized: TensorLike, /, *, name: str | None = None) -> Node:
        """Creates a tree ensemble model and returns a handle to it."""
    def BoostedTreesCreateQuantileStreamResource(self, quantile_stream_resource_handle: OutputLike, epsilon: TensorLike, num_streams: TensorLike, /, *, max_elements: int = 1099511627776, name: str | None = None) -> Node:
        """Create the Resource for Quantile Streams."""
    def BoostedTreesDeserializeEnsemble(self, tree_ensemble_handle: OutputLike, stamp_token: TensorLike, tree_ensemble_serialized: TensorLike, /, *, name: str | None = None) -> Node:
        """Deserializes a serialized tree ensemble config and replaces current tree."""
    def BoostedTreesEnsembleResourceHandleOp(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Creates a handle to a BoostedTreesEnsembleResource."""
    def BoostedTreesExampleDebugOutputs(self, tree_ensemble_handle: OutputLike, bucketized_features: Sequence[TensorLike], /, *, logits_dimension: int, num_bucketized_features: int | None = None, name: str | None = None) -> Output:
        """Debugging/model interpretability outputs for each example."""
    def BoostedTreesFlushQuantileSummaries(self, quantile_stream_resource_handle: OutputLike, /, *, num_features: int, name: str | None = None) -> OutputsOrNode:
        """Flush the quantile summaries from each quantile stream resource."""
    def BoostedTreesGetEnsembleStates(self, tree_ensemble_handle: OutputLike, /, *, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Retrieves the tree ensemble resource stamp token, number of trees and growing statistics."""
    def BoostedTreesMakeQuantileSummaries(self, float_values: Sequence[TensorLike], example_weights: TensorLike, epsilon: TensorLike, /, *, num_features: int | None = None, name: str | None = None) -> OutputsOrNode:
        """Makes the summary of quantiles for the batch."""
    def BoostedTreesMakeStatsSummary(self, node_ids: TensorLike, gradients: TensorLike, hessians: TensorLike, bucketized_features_list: Sequence[TensorLike], /, *, max_splits: int, num_buckets: int, num_features: int | None = None, name: str | None = None) -> Output:
        """Makes the summary of accumulated stats for the batch."""
    def BoostedTreesPredict(self, tree_ensemble_handle: OutputLike, bucketized_features: Sequence[TensorLike], /, *, logits_dimension: int, num_bucketized_features: int | None = None, name: str | None = None) -> Output:
        """Runs multiple additive regression ensemble predictors on input instances and."""
    def BoostedTreesQuantileStreamResourceAddSummaries(self, quantile_stream_resource_handle: OutputLike, summaries: Sequence[TensorLike], /, *, num_features: int | None = None, name: str | None = None) -> Node:
        """Add the quantile summaries to each quantile stream resource."""
    def BoostedTreesQuantileStreamResourceDeserialize(self, quantile_stream_resource_handle: OutputLike, bucket_boundaries: Sequence[TensorLike], /, *, num_streams: int | None = None, name: str | None = None) -> Node:
        """Deserialize bucket boundaries and ready flag into current QuantileAccumulator."""
    def BoostedTreesQuantileStreamResourceFlush(self, quantile_stream_resource_handle: OutputLike, num_buckets: TensorLike, /, *, generate_quantiles: bool = False, name: str | None = None) -> Node:
        """Flush the summaries for a quantile stream resource."""
    def BoostedTreesQuantileStreamResourceGetBucketBoundaries(self, quantile_stream_resource_handle: OutputLike, /, *, num_features: int, name: str | None = None) -> OutputsOrNode:
        """Generate the bucket boundaries for each feature based on accumulated summaries."""
    def BoostedTreesQuantileStreamResourceHandleOp(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Creates a handle to a BoostedTreesQuantileStreamResource."""
    def BoostedTreesSerializeEnsemble(self, tree_ensemble_handle: OutputLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Serializes the tree ensemble to a proto."""
    def BoostedTreesSparseAggregateStats(self, node_ids: TensorLike, gradients: TensorLike, hessians: TensorLike, feature_indices: TensorLike, feature_values: TensorLike, feature_shape: TensorLike, /, *, max_splits: int, num_buckets: int, name: str | None = None) -> tuple[Output, Output, Output]:
        """Aggregates the summary of accumulated stats for the batch."""
    def BoostedTreesSparseCalculateBestFeatureSplit(self, node_id_range: TensorLike, stats_summary_indices: TensorLike, stats_summary_values: TensorLike, stats_summary_shape: TensorLike, l1: TensorLike, l2: TensorLike, tree_complexity: TensorLike, min_node_weight: TensorLike, /, *, logits_dimension: int, split_type: Literal['inequality'] | bytes = 'inequality', name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Calculates gains for each feature and returns the best possible split information for the feature."""
    def BoostedTreesTrainingPredict(self, tree_ensemble_handle: OutputLike, cached_tree_ids: TensorLike, cached_node_ids: TensorLike, bucketized_features: Sequence[TensorLike], /, *, logits_dimension: int, num_bucketized_features: int | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Runs multiple additive regression ensemble predictors on input instances and."""
    def BoostedTreesUpdateEnsemble(self, tree_ensemble_handle: OutputLike, feature_ids: TensorLike, node_ids: Sequence[TensorLike], gains: Sequence[TensorLike], thresholds: Sequence[TensorLike], left_node_contribs: Sequence[TensorLike], right_node_contribs: Sequence[TensorLike], max_depth: TensorLike, learning_rate: TensorLike, /, *, pruning_mode: int, num_features: int | None = None, name: str | None = None) -> Node:
        """Updates the tree ensemble by either adding a layer to the last tree being grown."""
    def BoostedTreesUpdateEnsembleV2(self, tree_ensemble_handle: OutputLike, feature_ids: Sequence[TensorLike], dimension_ids: Sequence[TensorLike], node_ids: Sequence[TensorLike], gains: Sequence[TensorLike], thresholds: Sequence[TensorLike], left_node_contribs: Sequence[TensorLike], right_node_contribs: Sequence[TensorLike], split_types: Sequence[TensorLike], max_depth: TensorLike, learning_rate: TensorLike, pruning_mode: TensorLike, /, *, num_features: int | None = None, logits_dimension: int = 1, num_groups: int = 1, name: str | None = None) -> Node:
        """Updates the tree ensemble by adding a layer to the last tree being grown."""
    def BroadcastArgs(self, s0: TensorLike, s1: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Return the shape of s0 op s1 with broadcast."""
    def BroadcastGradientArgs(self, s0: TensorLike, s1: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Return the reduction indices for computing gradients of s0 op s1 with broadcast."""
    def BroadcastTo(self, input: TensorLike, shape: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Broadcast an array for a compatible shape."""
    def Bucketize(self, input: TensorLike, /, *, boundaries: Sequence[float], T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Bucketizes 'input' based on 'boundaries'."""
    def BytesProducedStatsDataset(self, input_dataset: OutputLike, tag: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Records the bytes size of each element of `input_dataset` in a StatsAggregator."""
    def CSRSparseMatrixComponents(self, csr_sparse_matrix: OutputLike, index: TensorLike, /, *, type: DTypeLike, name: str | None = None) -> tuple[Output, Output, Output]:
        """Reads out the CSR components at batch `index`."""
    def CSRSparseMatrixToDense(self, sparse_input: OutputLike, /, *, type: DTypeLike, name: str | None = None) -> Output:
        """Convert a (possibly batched) CSRSparseMatrix to dense."""
    def CSRSparseMatrixToSparseTensor(self, sparse_matrix: OutputLike, /, *, type: DTypeLike, name: str | None = None) -> tuple[Output, Output, Output]:
        """Converts a (possibly batched) CSRSparesMatrix to a SparseTensor."""
    def CSVDataset(self, filenames: TensorLike, compression_type: TensorLike, buffer_size: TensorLike, header: TensorLike, field_delim: TensorLike, use_quote_delim: TensorLike, na_value: TensorLike, select_cols: TensorLike, record_defaults: Sequence[TensorLike], /, *, output_shapes: Sequence[ShapeLike], output_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type CSVDataset and return the Output."""
    def CSVDatasetV2(self, filenames: TensorLike, compression_type: TensorLike, buffer_size: TensorLike, header: TensorLike, field_delim: TensorLike, use_quote_delim: TensorLike, na_value: TensorLike, select_cols: TensorLike, record_defaults: Sequence[TensorLike], exclude_cols: TensorLike, /, *, output_shapes: Sequence[ShapeLike], output_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type CSVDatasetV2 and return the Output."""
    def CTCBeamSearchDecoder(self, inputs: TensorLike, sequence_length: TensorLike, /, *, beam_width: int, top_paths: int, merge_repeated: bool = True, T: DTypeLike = ..., name: str | None = None) -> tuple[Output, ...]:
        """Performs beam search decoding on the logits given in input."""
    def CTCGreedyDecoder(self, inputs: TensorLike, sequence_length: TensorLike, /, *, merge_repeated: bool = False, blank_index: int = -1, T: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Performs greedy decoding on the logits given in inputs."""
    def CTCLoss(self, inputs: TensorLike, labels_indices: TensorLike, labels_values: TensorLike, sequence_length: TensorLike, /, *, preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False, T: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Calculates the CTC Loss (log probability) for each batch entry."""
    def CTCLossV2(self, inputs: TensorLike, labels_indices: TensorLike, labels_values: TensorLike, sequence_length: TensorLike, /, *, preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False, name: str | None = None) -> tuple[Output, Output]:
        """Calculates the CTC Loss (log probability) for each batch entry."""
    def CacheDataset(self, input_dataset: OutputLike, filename: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that caches elements from `input_dataset`."""
    def CacheDatasetV2(self, input_dataset: OutputLike, filename: TensorLike, cache: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type CacheDatasetV2 and return the Output."""
    def CalibrationStatisticsSaver(self, args: Sequence[TensorLike], /, *, ids: Sequence[str | bytes], calibration_methods: Sequence[int], output_file_path: str | bytes, Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Add a node of type CalibrationStatisticsSaver and return the Node."""
    def Case(self, branch_index: TensorLike, input: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], branches: Sequence[FuncRef | str], Tin: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """An n-way switch statement which calls a single branch function."""
    def Cast(self, x: TensorLike, /, *, DstT: DTypeLike, SrcT: DTypeLike | None = None, Truncate: bool = False, name: str | None = None) -> Output:
        """Cast x of type SrcT to y of DstT."""
    def Ceil(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns element-wise smallest integer not less than x."""
    def CheckNumerics(self, tensor: TensorLike, /, *, message: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Checks a tensor for NaN and Inf values."""
    def CheckNumericsV2(self, tensor: TensorLike, /, *, message: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Checks a tensor for NaN, -Inf and +Inf values."""
    def CheckPinned(self, tensor: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Checks whether a tensor is located in host memory pinned for GPU."""
    def Cholesky(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the Cholesky decomposition of one or more square matrices."""
    def CholeskyGrad(self, l: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the reverse mode backpropagated gradient of the Cholesky algorithm."""
    def ChooseFastestBranchDataset(self, input_dataset: OutputLike, ratio_numerator: TensorLike, ratio_denominator: TensorLike, other_arguments: Sequence[TensorLike], /, *, num_elements_per_branch: int, branches: Sequence[FuncRef | str], other_arguments_lengths: Sequence[int], output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type ChooseFastestBranchDataset and return the Output."""
    def ChooseFastestDataset(self, input_datasets: Sequence[OutputLike], /, *, num_experiments: int, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, name: str | None = None) -> Output:
        """Add a node of type ChooseFastestDataset and return the Output."""
    def ClipByValue(self, t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Clips tensor values to a specified min and max."""
    def CloseSummaryWriter(self, writer: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type CloseSummaryWriter and return the Node."""
    def CollateTPUEmbeddingMemory(self, memory_configs: Sequence[TensorLike], /, *, N: int | None = None, name: str | None = None) -> Output:
        """Add a node of type CollateTPUEmbeddingMemory and return the Output."""
    def CollectiveAllToAllV2(self, input: TensorLike, group_size: TensorLike, group_key: TensorLike, instance_key: TensorLike, ordering_token: Sequence[OutputLike], /, *, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, is_stateless: bool = False, Nordering_token: int = 0, name: str | None = None) -> Output:
        """Mutually exchanges multiple tensors of identical type and shape."""
    def CollectiveAllToAllV3(self, input: TensorLike, communicator: OutputLike, group_assignment: TensorLike, /, *, T: DTypeLike | None = None, timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Mutually exchanges multiple tensors of identical type and shape."""
    def CollectiveAssignGroupV2(self, group_assignment: TensorLike, device_index: TensorLike, base_key: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Assign group keys based on group assignment."""
    def CollectiveBcastRecv(self, *, T: DTypeLike, group_size: int, group_key: int, instance_key: int, shape: ShapeLike, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Receives a tensor value broadcast from another device."""
    def CollectiveBcastRecvV2(self, group_size: TensorLike, group_key: TensorLike, instance_key: TensorLike, shape: TensorLike, /, *, T: DTypeLike, Tshape: DTypeLike = ..., communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Receives a tensor value broadcast from another device."""
    def CollectiveBcastSend(self, input: TensorLike, /, *, group_size: int, group_key: int, instance_key: int, shape: ShapeLike, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Broadcasts a tensor value to one or more other devices."""
    def CollectiveBcastSendV2(self, input: TensorLike, group_size: TensorLike, group_key: TensorLike, instance_key: TensorLike, /, *, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Broadcasts a tensor value to one or more other devices."""
    def CollectiveGather(self, input: TensorLike, /, *, group_size: int, group_key: int, instance_key: int, shape: ShapeLike, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Mutually accumulates multiple tensors of identical type and shape."""
    def CollectiveGatherV2(self, input: TensorLike, group_size: TensorLike, group_key: TensorLike, instance_key: TensorLike, ordering_token: Sequence[OutputLike], /, *, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, is_stateless: bool = False, Nordering_token: int = 0, name: str | None = None) -> Output:
        """Mutually accumulates multiple tensors of identical type and shape."""
    def CollectiveInitializeCommunicator(self, group_key: TensorLike, rank: TensorLike, group_size: TensorLike, /, *, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Initializes a group for collective operations."""
    def CollectivePermute(self, input: TensorLike, source_target_pairs: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """An Op to permute tensors across replicated TPU instances."""
    def CollectiveReduce(self, input: TensorLike, /, *, group_size: int, group_key: int, instance_key: int, merge_op: Literal['Min', 'Max', 'Mul', 'Add'] | bytes, final_op: Literal['Id', 'Div'] | bytes, subdiv_offsets: Sequence[int], T: DTypeLike | None = None, wait_for: Sequence[int] = ..., communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Mutually reduces multiple tensors of identical type and shape."""
    def CollectiveReduceScatterV2(self, input: TensorLike, group_size: TensorLike, group_key: TensorLike, instance_key: TensorLike, ordering_token: Sequence[OutputLike], /, *, merge_op: Literal['Min', 'Max', 'Mul', 'Add'] | bytes, final_op: Literal['Id', 'Div'] | bytes, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, is_stateless: bool = False, Nordering_token: int = 0, max_subdivs_per_device: int = -1, name: str | None = None) -> Output:
        """Mutually reduces multiple tensors of identical type and shape and scatters the result."""
    def CollectiveReduceV2(self, input: TensorLike, group_size: TensorLike, group_key: TensorLike, instance_key: TensorLike, ordering_token: Sequence[OutputLike], /, *, merge_op: Literal['Min', 'Max', 'Mul', 'Add'] | bytes, final_op: Literal['Id', 'Div'] | bytes, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, is_stateless: bool = False, Nordering_token: int = 0, max_subdivs_per_device: int = -1, name: str | None = None) -> Output:
        """Mutually reduces multiple tensors of identical type and shape."""
    def CollectiveReduceV3(self, input: TensorLike, communicator: OutputLike, group_assignment: TensorLike, /, *, reduction: Literal['Min', 'Max', 'Mul', 'Add'] | bytes, T: DTypeLike | None = None, timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Mutually reduces multiple tensors of identical type and shape."""
    def CombinedNonMaxSuppression(self, boxes: TensorLike, scores: TensorLike, max_output_size_per_class: TensorLike, max_total_size: TensorLike, iou_threshold: TensorLike, score_threshold: TensorLike, /, *, pad_per_class: bool = False, clip_boxes: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Greedily selects a subset of bounding boxes in descending order of score."""
    def Complex(self, real: TensorLike, imag: TensorLike, /, *, T: DTypeLike = ..., Tout: DTypeLike = ..., name: str | None = None) -> Output:
        """Converts two real numbers to a complex number."""
    def ComplexAbs(self, x: TensorLike, /, *, T: DTypeLike = ..., Tout: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the complex absolute value of a tensor."""
    def ComplexStruct(self, *, n_a: int, n_b: int, t_c: Sequence[DTypeLike], name: str | None = None) -> OutputsOrNode:
        """Add a node of type ComplexStruct and return a tuple of Outputs."""
    def CompositeTensorVariantFromComponents(self, components: Sequence[TensorLike], /, *, metadata: str | bytes, Tcomponents: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Encodes an `ExtensionType` value into a `variant` scalar Tensor."""
    def CompositeTensorVariantToComponents(self, encoded: OutputLike, /, *, metadata: str | bytes, Tcomponents: Sequence[DTypeLike], name: str | None = None) -> OutputsOrNode:
        """Decodes a `variant` scalar Tensor into an `ExtensionType` value."""
    def CompressElement(self, components: Sequence[TensorLike], /, *, input_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Compresses a dataset element."""
    def ComputeAccidentalHits(self, true_classes: TensorLike, sampled_candidates: TensorLike, /, *, num_true: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes the ids of the positions in sampled_candidates that match true_labels."""
    def ComputeBatchSize(self, input_dataset: OutputLike, /, *, name: str | None = None) -> Output:
        """Computes the static batch size of a dataset sans partial batches."""
    def ComputeDedupDataSize(self, *, config: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ComputeDedupDataSize and return the Output."""
    def ComputeDedupDataSizeV2(self, *, config: str | bytes, embedding_partitions: str | bytes, hbm_buffers_config: str | bytes, tpu_topology: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ComputeDedupDataSizeV2 and return the Output."""
    def ComputeDedupDataTupleMask(self, *, config: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ComputeDedupDataTupleMask and return the Output."""
    def ComputeDedupDataTupleMaskV2(self, *, config: str | bytes, embedding_partitions: str | bytes, hbm_buffers_config: str | bytes, tpu_topology: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ComputeDedupDataTupleMaskV2 and return the Output."""
    def Concat(self, concat_dim: TensorLike, values: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Concatenates tensors along one dimension."""
    def ConcatOffset(self, concat_dim: TensorLike, shape: Sequence[TensorLike], /, *, N: int | None = None, shape_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, ...]:
        """Computes offsets of concat inputs within its output."""
    def ConcatV2(self, values: Sequence[TensorLike], axis: TensorLike, /, *, N: int | None = None, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Concatenates tensors along one dimension."""
    def ConcatenateDataset(self, input_dataset: OutputLike, another_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that concatenates `input_dataset` with `another_dataset`."""
    def ConditionalAccumulator(self, *, dtype: DTypeLike, shape: ShapeLike, container: str | bytes = '', shared_name: str | bytes = '', reduction_type: Literal['MEAN', 'SUM'] | bytes = 'MEAN', name: str | None = None) -> Output:
        """A conditional accumulator for aggregating gradients."""
    def ConfigureAndInitializeGlobalTPU(self, *, use_tfrt_host_runtime: bool = True, name: str | None = None) -> Output:
        """Add a node of type ConfigureAndInitializeGlobalTPU and return the Output."""
    def ConfigureDistributedTPU(self, *, embedding_config: str | bytes = '', tpu_embedding_config: str | bytes = '', is_global_init: bool = False, enable_whole_mesh_compilations: bool = False, compilation_failure_closes_chips: bool = True, tpu_cancellation_closes_chips: int = 0, name: str | None = None) -> Output:
        """Sets up the centralized structures for a distributed TPU system."""
    def ConfigureTPUEmbedding(self, *, config: str | bytes, name: str | None = None) -> Node:
        """Sets up TPUEmbedding in a distributed TPU system."""
    def ConfigureTPUEmbeddingHost(self, common_config: TensorLike, memory_config: TensorLike, /, *, config: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ConfigureTPUEmbeddingHost and return the Output."""
    def ConfigureTPUEmbeddingMemory(self, common_config: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ConfigureTPUEmbeddingMemory and return the Output."""
    def Conj(self, input: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns the complex conjugate of a complex number."""
    def ConjugateTranspose(self, x: TensorLike, perm: TensorLike, /, *, T: DTypeLike | None = None, Tperm: DTypeLike = ..., name: str | None = None) -> Output:
        """Shuffle dimensions of x according to a permutation and conjugate the result."""
    def ConnectTPUEmbeddingHosts(self, network_configs: Sequence[TensorLike], /, *, N: int | None = None, name: str | None = None) -> Node:
        """Add a node of type ConnectTPUEmbeddingHosts and return the Node."""
    def Const(self, *, value: Tensor | ArrayLike, dtype: DTypeLike, name: str | None = None) -> Output:
        """Returns a constant tensor."""
    def ConstructionFails(self, *, name: str | None = None) -> Node:
        """Add a node of type ConstructionFails and return the Node."""
    def ConsumeMutexLock(self, mutex_lock: OutputLike, /, *, name: str | None = None) -> Node:
        """This op consumes a lock created by `MutexLock`."""
    def ControlTrigger(self, *, name: str | None = None) -> Node:
        """Does nothing."""
    def Conv(self, input: TensorLike, filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, explicit_paddings: Sequence[int] = ..., data_format: Literal['CHANNELS_FIRST', 'CHANNELS_LAST'] | bytes = 'CHANNELS_LAST', dilations: Sequence[int] = ..., batch_dims: int = 1, groups: int = 1, name: str | None = None) -> Output:
        """Computes a N-D convolution given (N+1+batch_dims)-D `input` and (N+2)-D `filter` tensors."""
    def Conv2D(self, input: TensorLike, filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Computes a 2-D convolution given 4-D `input` and `filter` tensors."""
    def Conv2DBackpropFilter(self, input: TensorLike, filter_sizes: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Computes the gradients of convolution with respect to the filter."""
    def Conv2DBackpropFilterV2(self, input: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Computes the gradients of convolution with respect to the filter."""
    def Conv2DBackpropInput(self, input_sizes: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Computes the gradients of convolution with respect to the input."""
    def Conv2DBackpropInputV2(self, input: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Computes the gradients of convolution with respect to the input."""
    def Conv3D(self, input: TensorLike, filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Computes a 3-D convolution given 5-D `input` and `filter` tensors."""
    def Conv3DBackpropFilter(self, input: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Computes the gradients of 3-D convolution with respect to the filter."""
    def Conv3DBackpropFilterV2(self, input: TensorLike, filter_sizes: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Computes the gradients of 3-D convolution with respect to the filter."""
    def Conv3DBackpropInput(self, input: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Computes the gradients of 3-D convolution with respect to the input."""
    def Conv3DBackpropInputV2(self, input_sizes: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', dilations: Sequence[int] = ..., Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the gradients of 3-D convolution with respect to the input."""
    def ConvertToCooTensor(self, indices_or_row_splits: TensorLike, values: TensorLike, weights: TensorLike, /, *, sample_count: int, combiner: str | bytes, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type ConvertToCooTensor and return a tuple of Outputs."""
    def ConvertToListOfSparseCoreCooTensors(self, indices_or_row_splits: TensorLike, values: TensorLike, weights: TensorLike, /, *, sample_count: int, num_sc_per_chip: int, row_offset: int, col_offset: int, col_shift: int, num_sc_shards: int, stacked_table_sample_count: int, combiner: str | bytes, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type ConvertToListOfSparseCoreCooTensors and return a tuple of Outputs."""
    def ConvertToSparseCoreCsrWrappedCooTensor(self, sorted_row_ids_list: Sequence[TensorLike], sorted_col_ids_list: Sequence[TensorLike], sorted_gains_list: Sequence[TensorLike], id_counts_list: Sequence[TensorLike], splits: TensorLike, /, *, sample_count_per_sc: int, num_replica: int, max_minibatches_per_sc: int, max_ids_per_chip_per_sample: int, table_vocab_size: int, feature_width: int, table_name: str | bytes, allow_id_dropping: bool, num_sc_per_chip: int | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type ConvertToSparseCoreCsrWrappedCooTensor and return a tuple of Outputs."""
    def Copy(self, input: TensorLike, /, *, T: DTypeLike | None = None, tensor_name: str | bytes = '', debug_ops_spec: Sequence[str | bytes] = ..., name: str | None = None) -> Output:
        """Copy a tensor from CPU-to-CPU or GPU-to-GPU."""
    def CopyHost(self, input: TensorLike, /, *, T: DTypeLike | None = None, tensor_name: str | bytes = '', debug_ops_spec: Sequence[str | bytes] = ..., name: str | None = None) -> Output:
        """Copy a tensor to host."""
    def CopyOp(self, a: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CopyOp and return the Output."""
    def CopyToMesh(self, input: TensorLike, /, *, mesh: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CopyToMesh and return the Output."""
    def CopyToMeshGrad(self, input: TensorLike, forward_input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CopyToMeshGrad and return the Output."""
    def Cos(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes cos of x element-wise."""
    def Cosh(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes hyperbolic cosine of x element-wise."""
    def CountUpTo(self, ref: OutputLike, /, *, limit: int, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Increments 'ref' until it reaches 'limit'."""
    def CreateSummaryDbWriter(self, writer: OutputLike, db_uri: TensorLike, experiment_name: TensorLike, run_name: TensorLike, user_name: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type CreateSummaryDbWriter and return the Node."""
    def CreateSummaryFileWriter(self, writer: OutputLike, logdir: TensorLike, max_queue: TensorLike, flush_millis: TensorLike, filename_suffix: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type CreateSummaryFileWriter and return the Node."""
    def CropAndResize(self, image: TensorLike, boxes: TensorLike, box_ind: TensorLike, crop_size: TensorLike, /, *, T: DTypeLike | None = None, method: Literal['bilinear', 'nearest'] | bytes = 'bilinear', extrapolation_value: float = 0.0, name: str | None = None) -> Output:
        """Extracts crops from the input image tensor and resizes them."""
    def CropAndResizeGradBoxes(self, grads: TensorLike, image: TensorLike, boxes: TensorLike, box_ind: TensorLike, /, *, T: DTypeLike | None = None, method: Literal['bilinear'] | bytes = 'bilinear', name: str | None = None) -> Output:
        """Computes the gradient of the crop_and_resize op wrt the input boxes tensor."""
    def CropAndResizeGradImage(self, grads: TensorLike, boxes: TensorLike, box_ind: TensorLike, image_size: TensorLike, /, *, T: DTypeLike, method: Literal['bilinear', 'nearest'] | bytes = 'bilinear', name: str | None = None) -> Output:
        """Computes the gradient of the crop_and_resize op wrt the input image tensor."""
    def Cross(self, a: TensorLike, b: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Compute the pairwise cross product."""
    def CrossReplicaSum(self, input: TensorLike, group_assignment: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """An Op to sum inputs across replicated TPU instances."""
    def CudnnRNN(self, input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, /, *, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """A RNN backed by cuDNN."""
    def CudnnRNNBackprop(self, input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, output: TensorLike, output_h: TensorLike, output_c: TensorLike, output_backprop: TensorLike, output_h_backprop: TensorLike, output_c_backprop: TensorLike, reserve_space: TensorLike, /, *, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Backprop step of CudnnRNN."""
    def CudnnRNNBackpropV2(self, input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, output: TensorLike, output_h: TensorLike, output_c: TensorLike, output_backprop: TensorLike, output_h_backprop: TensorLike, output_c_backprop: TensorLike, reserve_space: TensorLike, host_reserved: TensorLike, /, *, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Backprop step of CudnnRNN."""
    def CudnnRNNBackpropV3(self, input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, sequence_lengths: TensorLike, output: TensorLike, output_h: TensorLike, output_c: TensorLike, output_backprop: TensorLike, output_h_backprop: TensorLike, output_c_backprop: TensorLike, reserve_space: TensorLike, host_reserved: TensorLike, /, *, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, num_proj: int = 0, time_major: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Backprop step of CudnnRNNV3."""
    def CudnnRNNCanonicalToParams(self, num_layers: TensorLike, num_units: TensorLike, input_size: TensorLike, weights: Sequence[TensorLike], biases: Sequence[TensorLike], /, *, T: DTypeLike | None = None, num_params: int | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, name: str | None = None) -> Output:
        """Converts CudnnRNN params from canonical form to usable form."""
    def CudnnRNNCanonicalToParamsV2(self, num_layers: TensorLike, num_units: TensorLike, input_size: TensorLike, weights: Sequence[TensorLike], biases: Sequence[TensorLike], /, *, T: DTypeLike | None = None, num_params_weights: int | None = None, num_params_biases: int | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, num_proj: int = 0, name: str | None = None) -> Output:
        """Converts CudnnRNN params from canonical form to usable form."""
    def CudnnRNNParamsSize(self, num_layers: TensorLike, num_units: TensorLike, input_size: TensorLike, /, *, T: DTypeLike, S: DTypeLike, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, num_proj: int = 0, name: str | None = None) -> Output:
        """Computes size of weights that can be used by a Cudnn RNN model."""
    def CudnnRNNParamsToCanonical(self, num_layers: TensorLike, num_units: TensorLike, input_size: TensorLike, params: TensorLike, /, *, num_params: int, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, ...]:
        """Retrieves CudnnRNN params in canonical form."""
    def CudnnRNNParamsToCanonicalV2(self, num_layers: TensorLike, num_units: TensorLike, input_size: TensorLike, params: TensorLike, /, *, num_params_weights: int, num_params_biases: int, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, num_proj: int = 0, name: str | None = None) -> tuple[Output, ...]:
        """Retrieves CudnnRNN params in canonical form."""
    def CudnnRNNV2(self, input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, /, *, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """A RNN backed by cuDNN."""
    def CudnnRNNV3(self, input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, sequence_lengths: TensorLike, /, *, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, num_proj: int = 0, is_training: bool = True, time_major: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """A RNN backed by cuDNN."""
    def Cumprod(self, x: TensorLike, axis: TensorLike, /, *, exclusive: bool = False, reverse: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Compute the cumulative product of the tensor `x` along `axis`."""
    def Cumsum(self, x: TensorLike, axis: TensorLike, /, *, exclusive: bool = False, reverse: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Compute the cumulative sum of the tensor `x` along `axis`."""
    def CumulativeLogsumexp(self, x: TensorLike, axis: TensorLike, /, *, exclusive: bool = False, reverse: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Compute the cumulative product of the tensor `x` along `axis`."""
    def CustomAggregator(self, input: TensorLike, /, *, id: str | bytes, calibration_method: int = 0, num_bins: int = 0, min_percentile: float = 0.0, max_percentile: float = 0.0, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type CustomAggregator and return a tuple of Outputs."""
    def DTensorAllGather(self, input: TensorLike, /, *, input_layout: str | bytes, output_layout: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DTensorAllGather and return the Output."""
    def DTensorAllReduce(self, input: TensorLike, group_assignment: TensorLike, /, *, reduce_op: Literal['Min', 'Max', 'Mul', 'Add', 'Mean', 'Any', 'All'] | bytes, device_type: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DTensorAllReduce and return the Output."""
    def DTensorAllScatter(self, input: TensorLike, /, *, input_layout: str | bytes, output_layout: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DTensorAllScatter and return the Output."""
    def DTensorAllToAll(self, input: TensorLike, /, *, input_layout: str | bytes, output_layout: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DTensorAllToAll and return the Output."""
    def DTensorReduceScatter(self, input: TensorLike, group_assignment: TensorLike, scatter_dimension: TensorLike, /, *, reduce_op: Literal['Min', 'Max', 'Mul', 'Add', 'Mean', 'Any', 'All'] | bytes, device_type: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DTensorReduceScatter and return the Output."""
    def DTensorRestoreV2(self, prefix: TensorLike, tensor_names: TensorLike, shape_and_slices: TensorLike, /, *, input_shapes: Sequence[ShapeLike], input_layouts: Sequence[str | bytes], dtypes: Sequence[DTypeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type DTensorRestoreV2 and return a tuple of Outputs."""
    def DTensorSetGlobalTPUArray(self, topology: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DTensorSetGlobalTPUArray and return the Node."""
    def DataFormatDimMap(self, x: TensorLike, /, *, T: DTypeLike = ..., src_format: str | bytes = 'NHWC', dst_format: str | bytes = 'NCHW', name: str | None = None) -> Output:
        """Returns the dimension index in the destination data format given the one in."""
    def DataFormatVecPermute(self, x: TensorLike, /, *, T: DTypeLike = ..., src_format: str | bytes = 'NHWC', dst_format: str | bytes = 'NCHW', name: str | None = None) -> Output:
        """Permute input tensor from `src_format` to `dst_format`."""
    def DataServiceDataset(self, dataset_id: TensorLike, processing_mode: TensorLike, address: TensorLike, protocol: TensorLike, job_name: TensorLike, max_outstanding_requests: TensorLike, iteration_counter: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], task_refresh_interval_hint_ms: int = -1, data_transfer_protocol: str | bytes = '', target_workers: str | bytes = 'AUTO', cross_trainer_cache_options: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that reads data from the tf.data service."""
    def DataServiceDatasetV2(self, dataset_id: TensorLike, processing_mode: TensorLike, address: TensorLike, protocol: TensorLike, job_name: TensorLike, consumer_index: TensorLike, num_consumers: TensorLike, max_outstanding_requests: TensorLike, iteration_counter: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], task_refresh_interval_hint_ms: int = -1, data_transfer_protocol: str | bytes = '', target_workers: str | bytes = 'AUTO', cross_trainer_cache_options: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that reads data from the tf.data service."""
    def DataServiceDatasetV3(self, dataset_id: TensorLike, processing_mode: TensorLike, address: TensorLike, protocol: TensorLike, job_name: TensorLike, consumer_index: TensorLike, num_consumers: TensorLike, max_outstanding_requests: TensorLike, iteration_counter: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], uncompress_fn: FuncRef | str, task_refresh_interval_hint_ms: int = -1, data_transfer_protocol: str | bytes = '', target_workers: str | bytes = 'AUTO', uncompress: bool = False, cross_trainer_cache_options: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that reads data from the tf.data service."""
    def DataServiceDatasetV4(self, dataset_id: TensorLike, processing_mode: TensorLike, address: TensorLike, protocol: TensorLike, job_name: TensorLike, consumer_index: TensorLike, num_consumers: TensorLike, max_outstanding_requests: TensorLike, iteration_counter: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], uncompress_fn: FuncRef | str, task_refresh_interval_hint_ms: int = -1, data_transfer_protocol: str | bytes = '', target_workers: str | bytes = 'AUTO', uncompress: bool = False, cross_trainer_cache_options: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that reads data from the tf.data service."""
    def DatasetCardinality(self, input_dataset: OutputLike, /, *, cardinality_options: str | bytes = '', name: str | None = None) -> Output:
        """Returns the cardinality of `input_dataset`."""
    def DatasetFingerprint(self, input_dataset: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the fingerprint of `input_dataset`."""
    def DatasetFromGraph(self, graph_def: TensorLike, /, *, name: str | None = None) -> Output:
        """Creates a dataset from the given `graph_def`."""
    def DatasetToGraph(self, input_dataset: OutputLike, /, *, stateful_whitelist: Sequence[str | bytes] = ..., allow_stateful: bool = False, strip_device_assignment: bool = False, name: str | None = None) -> Output:
        """Returns a serialized GraphDef representing `input_dataset`."""
    def DatasetToGraphV2(self, input_dataset: OutputLike, /, *, external_state_policy: int = 0, strip_device_assignment: bool = False, name: str | None = None) -> Output:
        """Returns a serialized GraphDef representing `input_dataset`."""
    def DatasetToSingleElement(self, dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Outputs the single element from the given dataset."""
    def DatasetToTFRecord(self, input_dataset: OutputLike, filename: TensorLike, compression_type: TensorLike, /, *, name: str | None = None) -> Node:
        """Writes the given dataset to the given file using the TFRecord format."""
    def Dawsn(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Dawsn and return the Output."""
    def DebugGradientIdentity(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Identity op for gradient debugging."""
    def DebugGradientRefIdentity(self, input: OutputLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Identity op for gradient debugging."""
    def DebugIdentity(self, input: TensorLike, /, *, T: DTypeLike | None = None, device_name: str | bytes = '', tensor_name: str | bytes = '', debug_urls: Sequence[str | bytes] = ..., gated_grpc: bool = False, name: str | None = None) -> Output:
        """Provides an identity mapping of the non-Ref type input tensor for debugging."""
    def DebugIdentityV2(self, input: TensorLike, /, *, T: DTypeLike | None = None, tfdbg_context_id: str | bytes = '', op_name: str | bytes = '', output_slot: int = -1, tensor_debug_mode: int = -1, debug_urls: Sequence[str | bytes] = ..., circular_buffer_size: int = 1000, tfdbg_run_id: str | bytes = '', name: str | None = None) -> Output:
        """Debug Identity V2 Op."""
    def DebugIdentityV3(self, input: TensorLike, /, *, T: DTypeLike | None = None, device_name: str | bytes = '', tensor_name: str | bytes = '', io_of_node: str | bytes = '', is_input: bool = False, io_index: int = -1, debug_urls: Sequence[str | bytes] = ..., gated_grpc: bool = False, name: str | None = None) -> Output:
        """Provides an identity mapping of the non-Ref type input tensor for debugging."""
    def DebugNanCount(self, input: TensorLike, /, *, T: DTypeLike | None = None, device_name: str | bytes = '', tensor_name: str | bytes = '', debug_urls: Sequence[str | bytes] = ..., gated_grpc: bool = False, name: str | None = None) -> Output:
        """Debug NaN Value Counter Op."""
    def DebugNumericSummary(self, input: TensorLike, /, *, T: DTypeLike | None = None, device_name: str | bytes = '', tensor_name: str | bytes = '', debug_urls: Sequence[str | bytes] = ..., lower_bound: float = ..., upper_bound: float = ..., mute_if_healthy: bool = False, gated_grpc: bool = False, name: str | None = None) -> Output:
        """Debug Numeric Summary Op."""
    def DebugNumericSummaryV2(self, input: TensorLike, /, *, output_dtype: DTypeLike = ..., T: DTypeLike | None = None, tensor_debug_mode: int = -1, tensor_id: int = -1, name: str | None = None) -> Output:
        """Debug Numeric Summary V2 Op."""
    def DecodeAndCropJpeg(self, contents: TensorLike, crop_window: TensorLike, /, *, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, try_recover_truncated: bool = False, acceptable_fraction: float = 1.0, dct_method: str | bytes = '', name: str | None = None) -> Output:
        """Decode and Crop a JPEG-encoded image to a uint8 tensor."""
    def DecodeBase64(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Decode web-safe base64-encoded strings."""
    def DecodeBmp(self, contents: TensorLike, /, *, channels: int = 0, name: str | None = None) -> Output:
        """Decode the first frame of a BMP-encoded image to a uint8 tensor."""
    def DecodeCSV(self, records: TensorLike, record_defaults: Sequence[TensorLike], /, *, OUT_TYPE: Sequence[DTypeLike] | None = None, field_delim: str | bytes = ',', use_quote_delim: bool = True, na_value: str | bytes = '', select_cols: Sequence[int] = ..., name: str | None = None) -> tuple[Output, ...]:
        """Convert CSV records to tensors."""
    def DecodeCompressed(self, bytes: TensorLike, /, *, compression_type: str | bytes = '', name: str | None = None) -> Output:
        """Decompress strings."""
    def DecodeGif(self, contents: TensorLike, /, *, name: str | None = None) -> Output:
        """Decode the frame(s) of a GIF-encoded image to a uint8 tensor."""
    def DecodeImage(self, contents: TensorLike, /, *, channels: int = 0, dtype: DTypeLike = ..., expand_animations: bool = True, name: str | None = None) -> Output:
        """Function for decode_bmp, decode_gif, decode_jpeg, decode_jxl, decode_webp, and decode_png."""
    def DecodeJSONExample(self, json_examples: TensorLike, /, *, name: str | None = None) -> Output:
        """Convert JSON-encoded Example records to binary protocol buffer strings."""
    def DecodeJpeg(self, contents: TensorLike, /, *, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, try_recover_truncated: bool = False, acceptable_fraction: float = 1.0, dct_method: str | bytes = '', name: str | None = None) -> Output:
        """Decode a JPEG-encoded image to a uint8 tensor."""
    def DecodeJxl(self, contents: TensorLike, /, *, channels: int = 0, dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Decode a JPEG XL encoded image to a uint8 tensor."""
    def DecodePaddedRaw(self, input_bytes: TensorLike, fixed_length: TensorLike, /, *, out_type: DTypeLike, little_endian: bool = True, name: str | None = None) -> Output:
        """Reinterpret the bytes of a string as a vector of numbers."""
    def DecodePng(self, contents: TensorLike, /, *, channels: int = 0, dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Decode a PNG-encoded image to a uint8 or uint16 tensor."""
    def DecodeProtoV2(self, bytes: TensorLike, /, *, message_type: str | bytes, field_names: Sequence[str | bytes], output_types: Sequence[DTypeLike], descriptor_source: str | bytes = 'local://', message_format: str | bytes = 'binary', sanitize: bool = False, name: str | None = None) -> tuple[Output, ...]:
        """The op extracts fields from a serialized protocol buffers message into tensors."""
    def DecodeRaw(self, bytes: TensorLike, /, *, out_type: DTypeLike, little_endian: bool = True, name: str | None = None) -> Output:
        """Reinterpret the bytes of a string as a vector of numbers."""
    def DecodeWav(self, contents: TensorLike, /, *, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None) -> tuple[Output, Output]:
        """Decode a 16-bit PCM WAV file to a float tensor."""
    def DecodeWebP(self, contents: TensorLike, /, *, channels: int = 0, dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Decode a WebP-encoded image to a uint8 tensor."""
    def DeepCopy(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Makes a copy of `x`."""
    def DefaultAttrs(self, *, string_val: str | bytes = 'abc', string_list_val: Sequence[str | bytes] = ..., int_val: int = 123, int_list_val: Sequence[int] = ..., float_val: float = 10.0, float_list_val: Sequence[float] = ..., bool_val: bool = True, bool_list_val: Sequence[bool] = ..., type_val: DTypeLike = ..., type_list_val: Sequence[DTypeLike] = ..., shape_val: ShapeLike = ..., shape_list_val: Sequence[ShapeLike] = ..., tensor_val: Tensor | ArrayLike = ..., tensor_list_val: Sequence[Tensor | ArrayLike] = ..., name: str | None = None) -> Node:
        """Add a node of type DefaultAttrs and return the Node."""
    def DeleteIterator(self, handle: OutputLike, deleter: OutputLike, /, *, name: str | None = None) -> Node:
        """A container for an iterator resource."""
    def DeleteMemoryCache(self, handle: OutputLike, deleter: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DeleteMemoryCache and return the Node."""
    def DeleteMultiDeviceIterator(self, multi_device_iterator: OutputLike, iterators: Sequence[OutputLike], deleter: OutputLike, /, *, N: int | None = None, name: str | None = None) -> Node:
        """A container for an iterator resource."""
    def DeleteRandomSeedGenerator(self, handle: OutputLike, deleter: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DeleteRandomSeedGenerator and return the Node."""
    def DeleteRpcFutureResource(self, handle: OutputLike, deleter: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DeleteRpcFutureResource and return the Node."""
    def DeleteSeedGenerator(self, handle: OutputLike, deleter: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DeleteSeedGenerator and return the Node."""
    def DeleteSessionTensor(self, handle: TensorLike, /, *, name: str | None = None) -> Node:
        """Delete the tensor specified by its handle in the session."""
    def DenseBincount(self, input: TensorLike, size: TensorLike, weights: TensorLike, /, *, Tidx: DTypeLike | None = None, T: DTypeLike | None = None, binary_output: bool = False, name: str | None = None) -> Output:
        """Counts the number of occurrences of each value in an integer array."""
    def DenseCountSparseOutput(self, values: TensorLike, weights: TensorLike, /, *, binary_output: bool, T: DTypeLike | None = None, minlength: int = -1, maxlength: int = -1, output_type: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Performs sparse-output bin counting for a tf.tensor input."""
    def DenseToCSRSparseMatrix(self, dense_input: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Converts a dense tensor to a (possibly batched) CSRSparseMatrix."""
    def DenseToDenseSetOperation(self, set1: TensorLike, set2: TensorLike, /, *, set_operation: str | bytes, validate_indices: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Applies set operation along last dimension of 2 `Tensor` inputs."""
    def DenseToSparseBatchDataset(self, input_dataset: OutputLike, batch_size: TensorLike, row_shape: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that batches input elements into a SparseTensor."""
    def DenseToSparseSetOperation(self, set1: TensorLike, set2_indices: TensorLike, set2_values: TensorLike, set2_shape: TensorLike, /, *, set_operation: str | bytes, validate_indices: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Applies set operation along last dimension of `Tensor` and `SparseTensor`."""
    def DepthToSpace(self, input: TensorLike, /, *, block_size: int, T: DTypeLike | None = None, data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] | bytes = 'NHWC', name: str | None = None) -> Output:
        """DepthToSpace for tensors of type T."""
    def DepthwiseConv2dNative(self, input: TensorLike, filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Computes a 2-D depthwise convolution given 4-D `input` and `filter` tensors."""
    def DepthwiseConv2dNativeBackpropFilter(self, input: TensorLike, filter_sizes: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Computes the gradients of depthwise convolution with respect to the filter."""
    def DepthwiseConv2dNativeBackpropInput(self, input_sizes: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Computes the gradients of depthwise convolution with respect to the input."""
    def Dequantize(self, input: TensorLike, min_range: TensorLike, max_range: TensorLike, /, *, T: DTypeLike | None = None, mode: Literal['MIN_COMBINED', 'MIN_FIRST', 'SCALED'] | bytes = 'MIN_COMBINED', narrow_range: bool = False, axis: int = -1, dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Dequantize the 'input' tensor into a float or bfloat16 Tensor."""
    def DeserializeIterator(self, resource_handle: OutputLike, serialized: OutputLike, /, *, name: str | None = None) -> Node:
        """Converts the given variant tensor to an iterator and stores it in the given resource."""
    def DeserializeManySparse(self, serialized_sparse: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> tuple[Output, Output, Output]:
        """Deserialize and concatenate `SparseTensors` from a serialized minibatch."""
    def DeserializeSparse(self, serialized_sparse: TensorLike, /, *, dtype: DTypeLike, Tserialized: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Deserialize `SparseTensor` objects."""
    def DestroyResourceOp(self, resource: OutputLike, /, *, ignore_lookup_error: bool = True, name: str | None = None) -> Node:
        """Deletes the resource specified by the handle."""
    def DestroyTemporaryVariable(self, ref: OutputLike, /, *, var_name: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Destroys the temporary variable and returns its final value."""
    def DeviceIndex(self, *, device_names: Sequence[str | bytes], name: str | None = None) -> Output:
        """Return the index of device the op runs."""
    def DevicePlacementOp(self, *, name: str | None = None) -> Output:
        """Add a node of type DevicePlacementOp and return the Output."""
    def Diag(self, diagonal: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns a diagonal tensor with a given diagonal values."""
    def DiagPart(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the diagonal part of the tensor."""
    def Digamma(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes Psi, the derivative of Lgamma (the log of the absolute value of."""
    def Dilation2D(self, input: TensorLike, filter: TensorLike, /, *, strides: Sequence[int], rates: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the grayscale dilation of 4-D `input` and 3-D `filter` tensors."""
    def Dilation2DBackpropFilter(self, input: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], rates: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the gradient of morphological 2-D dilation with respect to the filter."""
    def Dilation2DBackpropInput(self, input: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], rates: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the gradient of morphological 2-D dilation with respect to the input."""
    def DirectedInterleaveDataset(self, selector_input_dataset: OutputLike, data_input_datasets: Sequence[OutputLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, stop_on_empty_dataset: bool = False, name: str | None = None) -> Output:
        """A substitute for `InterleaveDataset` on a fixed list of `N` datasets."""
    def DisableCopyOnRead(self, resource: OutputLike, /, *, name: str | None = None) -> Node:
        """Turns off the copy-on-read mode."""
    def DistributedSave(self, dataset: OutputLike, directory: TensorLike, address: TensorLike, /, *, metadata: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type DistributedSave and return the Node."""
    def Div(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns x / y element-wise."""
    def DivNoNan(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns 0 if the denominator is zero."""
    def DrawBoundingBoxes(self, images: TensorLike, boxes: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Draw bounding boxes on a batch of images."""
    def DrawBoundingBoxesV2(self, images: TensorLike, boxes: TensorLike, colors: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Draw bounding boxes on a batch of images."""
    def DtypeWithDefaultOp(self, in_: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type DtypeWithDefaultOp and return the Output."""
    def DummyIterationCounter(self, *, name: str | None = None) -> Output:
        """Add a node of type DummyIterationCounter and return the Output."""
    def DummyMemoryCache(self, *, name: str | None = None) -> Output:
        """Add a node of type DummyMemoryCache and return the Output."""
    def DummySeedGenerator(self, *, name: str | None = None) -> Output:
        """Add a node of type DummySeedGenerator and return the Output."""
    def DumpTensor(self, tensor_data: TensorLike, /, *, log_dir_path: str | bytes, file_name: str | bytes, enabled: bool, func_name: str | bytes, node_name: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type DumpTensor and return the Node."""
    def DynamicEnqueueTPUEmbeddingArbitraryTensorBatch(self, sample_indices_or_row_splits: Sequence[TensorLike], embedding_indices: Sequence[TensorLike], aggregation_weights: Sequence[TensorLike], mode_override: TensorLike, device_ordinal: TensorLike, /, *, T1: DTypeLike = ..., T2: DTypeLike = ..., T3: DTypeLike = ..., N: int | None = None, combiners: Sequence[str | bytes] = ..., name: str | None = None) -> Node:
        """Eases the porting of code that uses tf.nn.embedding_lookup_sparse()."""
    def DynamicEnqueueTPUEmbeddingRaggedTensorBatch(self, sample_splits: Sequence[TensorLike], embedding_indices: Sequence[TensorLike], aggregation_weights: Sequence[TensorLike], mode_override: TensorLike, device_ordinal: TensorLike, /, *, table_ids: Sequence[int], T1: DTypeLike = ..., T2: DTypeLike = ..., T3: DTypeLike = ..., N: int | None = None, combiners: Sequence[str | bytes] = ..., max_sequence_lengths: Sequence[int] = ..., num_features: Sequence[int] = ..., name: str | None = None) -> Node:
        """Add a node of type DynamicEnqueueTPUEmbeddingRaggedTensorBatch and return the Node."""
    def DynamicPartition(self, data: TensorLike, partitions: TensorLike, /, *, num_partitions: int, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Partitions `data` into `num_partitions` tensors using indices from `partitions`."""
    def DynamicStitch(self, indices: Sequence[TensorLike], data: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Interleave the values from the `data` tensors into a single tensor."""
    def EagerPyFunc(self, input: Sequence[TensorLike], /, *, token: str | bytes, Tout: Sequence[DTypeLike], is_async: bool = False, Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Eagerly executes a python function to compute func(input)->output."""
    def EditDistance(self, hypothesis_indices: TensorLike, hypothesis_values: TensorLike, hypothesis_shape: TensorLike, truth_indices: TensorLike, truth_values: TensorLike, truth_shape: TensorLike, /, *, normalize: bool = True, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the (possibly normalized) Levenshtein Edit Distance."""
    def Eig(self, input: TensorLike, /, *, Tout: DTypeLike, compute_v: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Computes the eigen decomposition of one or more square matrices."""
    def Einsum(self, inputs: Sequence[TensorLike], /, *, equation: str | bytes, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Tensor contraction according to Einstein summation convention."""
    def Elu(self, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the exponential linear function."""
    def EluGrad(self, gradients: TensorLike, outputs: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes gradients for the exponential linear (Elu) operation."""
    def Empty(self, shape: TensorLike, /, *, dtype: DTypeLike, init: bool = False, name: str | None = None) -> Output:
        """Creates a tensor with the given shape."""
    def EmptyTensorList(self, element_shape: TensorLike, max_num_elements: TensorLike, /, *, element_dtype: DTypeLike, shape_type: DTypeLike | None = None, name: str | None = None) -> Output:
        """Creates and returns an empty tensor list."""
    def EmptyTensorMap(self, *, name: str | None = None) -> Output:
        """Creates and returns an empty tensor map."""
    def EncodeBase64(self, input: TensorLike, /, *, pad: bool = False, name: str | None = None) -> Output:
        """Encode strings into web-safe base64 format."""
    def EncodeJpeg(self, image: TensorLike, /, *, format: Literal['', 'grayscale', 'rgb'] | bytes = '', quality: int = 95, progressive: bool = False, optimize_size: bool = False, chroma_downsampling: bool = True, density_unit: Literal['in', 'cm'] | bytes = 'in', x_density: int = 300, y_density: int = 300, xmp_metadata: str | bytes = '', name: str | None = None) -> Output:
        """JPEG-encode an image."""
    def EncodeJpegVariableQuality(self, images: TensorLike, quality: TensorLike, /, *, name: str | None = None) -> Output:
        """JPEG encode input image with provided compression quality."""
    def EncodePng(self, image: TensorLike, /, *, compression: int = -1, T: DTypeLike = ..., name: str | None = None) -> Output:
        """PNG-encode an image."""
    def EncodeProto(self, sizes: TensorLike, values: Sequence[TensorLike], /, *, field_names: Sequence[str | bytes], message_type: str | bytes, descriptor_source: str | bytes = 'local://', Tinput_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """The op serializes protobuf messages provided in the input tensors."""
    def EncodeWav(self, audio: TensorLike, sample_rate: TensorLike, /, *, name: str | None = None) -> Output:
        """Encode audio data using the WAV file format."""
    def EnqueueTPUEmbeddingArbitraryTensorBatch(self, sample_indices_or_row_splits: Sequence[TensorLike], embedding_indices: Sequence[TensorLike], aggregation_weights: Sequence[TensorLike], mode_override: TensorLike, /, *, T1: DTypeLike = ..., T2: DTypeLike = ..., T3: DTypeLike = ..., N: int | None = None, device_ordinal: int = -1, combiners: Sequence[str | bytes] = ..., name: str | None = None) -> Node:
        """Eases the porting of code that uses tf.nn.embedding_lookup_sparse()."""
    def EnqueueTPUEmbeddingBatch(self, batch: Sequence[TensorLike], mode_override: TensorLike, /, *, N: int | None = None, device_ordinal: int = -1, combiners: Sequence[str | bytes] = ..., name: str | None = None) -> Node:
        """Add a node of type EnqueueTPUEmbeddingBatch and return the Node."""
    def EnqueueTPUEmbeddingIntegerBatch(self, batch: Sequence[TensorLike], mode_override: TensorLike, /, *, N: int | None = None, device_ordinal: int = -1, name: str | None = None) -> Node:
        """An op that enqueues a list of input batch tensors to TPUEmbedding."""
    def EnqueueTPUEmbeddingRaggedTensorBatch(self, sample_splits: Sequence[TensorLike], embedding_indices: Sequence[TensorLike], aggregation_weights: Sequence[TensorLike], mode_override: TensorLike, /, *, table_ids: Sequence[int], T1: DTypeLike = ..., T2: DTypeLike = ..., T3: DTypeLike = ..., N: int | None = None, device_ordinal: int = -1, combiners: Sequence[str | bytes] = ..., max_sequence_lengths: Sequence[int] = ..., num_features: Sequence[int] = ..., name: str | None = None) -> Node:
        """Eases the porting of code that uses tf.nn.embedding_lookup()."""
    def EnqueueTPUEmbeddingSparseBatch(self, sample_indices: Sequence[TensorLike], embedding_indices: Sequence[TensorLike], aggregation_weights: Sequence[TensorLike], mode_override: TensorLike, /, *, T1: DTypeLike = ..., T2: DTypeLike = ..., T3: DTypeLike = ..., N: int | None = None, device_ordinal: int = -1, combiners: Sequence[str | bytes] = ..., name: str | None = None) -> Node:
        """An op that enqueues TPUEmbedding input indices from a SparseTensor."""
    def EnqueueTPUEmbeddingSparseTensorBatch(self, sample_indices: Sequence[TensorLike], embedding_indices: Sequence[TensorLike], aggregation_weights: Sequence[TensorLike], mode_override: TensorLike, /, *, table_ids: Sequence[int], T1: DTypeLike = ..., T2: DTypeLike = ..., T3: DTypeLike = ..., N: int | None = None, device_ordinal: int = -1, combiners: Sequence[str | bytes] = ..., max_sequence_lengths: Sequence[int] = ..., num_features: Sequence[int] = ..., name: str | None = None) -> Node:
        """Eases the porting of code that uses tf.nn.embedding_lookup_sparse()."""
    def EnsureShape(self, input: TensorLike, /, *, shape: ShapeLike, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Ensures that the tensor's shape matches the expected shape."""
    def Enter(self, data: TensorLike, /, *, frame_name: str | bytes, T: DTypeLike | None = None, is_constant: bool = False, parallel_iterations: int = 10, name: str | None = None) -> Output:
        """Creates or finds a child frame, and makes `data` available to the child frame."""
    def Equal(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, incompatible_shape_error: bool = True, name: str | None = None) -> Output:
        """Returns the truth value of (x == y) element-wise."""
    def Erf(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the [Gauss error function](https://en.wikipedia.org/wiki/Error_function) of `x` element-wise."""
    def Erfc(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the complementary error function of `x` element-wise."""
    def Erfinv(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Erfinv and return the Output."""
    def EuclideanNorm(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the euclidean norm of elements across dimensions of a tensor."""
    def ExecuteTPUEmbeddingPartitioner(self, *, config: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ExecuteTPUEmbeddingPartitioner and return the Output."""
    def Exit(self, data: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Exits the current frame to its parent frame."""
    def Exp(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes exponential of x element-wise. \\\\(y = e^x\\\\)."""
    def ExpandDims(self, input: TensorLike, dim: TensorLike, /, *, T: DTypeLike | None = None, Tdim: DTypeLike = ..., name: str | None = None) -> Output:
        """Inserts a dimension of 1 into a tensor's shape."""
    def ExperimentalAssertNextDataset(self, input_dataset: OutputLike, transformations: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalAssertNextDataset and return the Output."""
    def ExperimentalAutoShardDataset(self, input_dataset: OutputLike, num_workers: TensorLike, index: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], auto_shard_policy: int = 0, name: str | None = None) -> Output:
        """Creates a dataset that shards the input dataset."""
    def ExperimentalBytesProducedStatsDataset(self, input_dataset: OutputLike, tag: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Records the bytes size of each element of `input_dataset` in a StatsAggregator."""
    def ExperimentalCSVDataset(self, filenames: TensorLike, compression_type: TensorLike, buffer_size: TensorLike, header: TensorLike, field_delim: TensorLike, use_quote_delim: TensorLike, na_value: TensorLike, select_cols: TensorLike, record_defaults: Sequence[TensorLike], /, *, output_shapes: Sequence[ShapeLike], output_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type ExperimentalCSVDataset and return the Output."""
    def ExperimentalChooseFastestDataset(self, input_datasets: Sequence[OutputLike], /, *, num_experiments: int, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, name: str | None = None) -> Output:
        """Add a node of type ExperimentalChooseFastestDataset and return the Output."""
    def ExperimentalDatasetCardinality(self, input_dataset: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the cardinality of `input_dataset`."""
    def ExperimentalDatasetToTFRecord(self, input_dataset: OutputLike, filename: TensorLike, compression_type: TensorLike, /, *, name: str | None = None) -> Node:
        """Writes the given dataset to the given file using the TFRecord format."""
    def ExperimentalDenseToSparseBatchDataset(self, input_dataset: OutputLike, batch_size: TensorLike, row_shape: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that batches input elements into a SparseTensor."""
    def ExperimentalDirectedInterleaveDataset(self, selector_input_dataset: OutputLike, data_input_datasets: Sequence[OutputLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, name: str | None = None) -> Output:
        """A substitute for `InterleaveDataset` on a fixed list of `N` datasets."""
    def ExperimentalGroupByReducerDataset(self, input_dataset: OutputLike, key_func_other_arguments: Sequence[TensorLike], init_func_other_arguments: Sequence[TensorLike], reduce_func_other_arguments: Sequence[TensorLike], finalize_func_other_arguments: Sequence[TensorLike], /, *, key_func: FuncRef | str, init_func: FuncRef | str, reduce_func: FuncRef | str, finalize_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tkey_func_other_arguments: Sequence[DTypeLike] | None = None, Tinit_func_other_arguments: Sequence[DTypeLike] | None = None, Treduce_func_other_arguments: Sequence[DTypeLike] | None = None, Tfinalize_func_other_arguments: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Creates a dataset that computes a group-by on `input_dataset`."""
    def ExperimentalGroupByWindowDataset(self, input_dataset: OutputLike, key_func_other_arguments: Sequence[TensorLike], reduce_func_other_arguments: Sequence[TensorLike], window_size_func_other_arguments: Sequence[TensorLike], /, *, key_func: FuncRef | str, reduce_func: FuncRef | str, window_size_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tkey_func_other_arguments: Sequence[DTypeLike] | None = None, Treduce_func_other_arguments: Sequence[DTypeLike] | None = None, Twindow_size_func_other_arguments: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Creates a dataset that computes a windowed group-by on `input_dataset`."""
    def ExperimentalIgnoreErrorsDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], log_warning: bool = False, name: str | None = None) -> Output:
        """Creates a dataset that contains the elements of `input_dataset` ignoring errors."""
    def ExperimentalIteratorGetDevice(self, resource: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the name of the device on which `resource` has been placed."""
    def ExperimentalLMDBDataset(self, filenames: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalLMDBDataset and return the Output."""
    def ExperimentalLatencyStatsDataset(self, input_dataset: OutputLike, tag: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Records the latency of producing `input_dataset` elements in a StatsAggregator."""
    def ExperimentalMapAndBatchDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], batch_size: TensorLike, num_parallel_calls: TensorLike, drop_remainder: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, preserve_cardinality: bool = False, name: str | None = None) -> Output:
        """Creates a dataset that fuses mapping with batching."""
    def ExperimentalMapDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, use_inter_op_parallelism: bool = True, preserve_cardinality: bool = False, force_synchronous: bool = False, name: str | None = None) -> Output:
        """Creates a dataset that applies `f` to the outputs of `input_dataset`."""
    def ExperimentalMatchingFilesDataset(self, patterns: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ExperimentalMatchingFilesDataset and return the Output."""
    def ExperimentalMaxIntraOpParallelismDataset(self, input_dataset: OutputLike, max_intra_op_parallelism: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that overrides the maximum intra-op parallelism."""
    def ExperimentalNonSerializableDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalNonSerializableDataset and return the Output."""
    def ExperimentalParallelInterleaveDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, sloppy: TensorLike, buffer_output_elements: TensorLike, prefetch_input_elements: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Creates a dataset that applies `f` to the outputs of `input_dataset`."""
    def ExperimentalParseExampleDataset(self, input_dataset: OutputLike, num_parallel_calls: TensorLike, dense_defaults: Sequence[TensorLike], /, *, sparse_keys: Sequence[str | bytes], dense_keys: Sequence[str | bytes], sparse_types: Sequence[DTypeLike], dense_shapes: Sequence[ShapeLike], output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tdense: Sequence[DTypeLike] | None = None, sloppy: bool = False, name: str | None = None) -> Output:
        """Add a node of type ExperimentalParseExampleDataset and return the Output."""
    def ExperimentalPrivateThreadPoolDataset(self, input_dataset: OutputLike, num_threads: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that uses a custom thread pool to compute `input_dataset`."""
    def ExperimentalRandomDataset(self, seed: TensorLike, seed2: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a Dataset that returns pseudorandom numbers."""
    def ExperimentalRebatchDataset(self, input_dataset: OutputLike, num_replicas: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], use_fallback: bool = True, name: str | None = None) -> Output:
        """Creates a dataset that changes the batch size."""
    def ExperimentalScanDataset(self, input_dataset: OutputLike, initial_state: Sequence[TensorLike], other_arguments: Sequence[TensorLike], /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tstate: Sequence[DTypeLike] | None = None, Targuments: Sequence[DTypeLike] | None = None, preserve_cardinality: bool = False, name: str | None = None) -> Output:
        """Creates a dataset successively reduces `f` over the elements of `input_dataset`."""
    def ExperimentalSetStatsAggregatorDataset(self, input_dataset: OutputLike, stats_aggregator: OutputLike, tag: TensorLike, counter_prefix: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalSetStatsAggregatorDataset and return the Output."""
    def ExperimentalSleepDataset(self, input_dataset: OutputLike, sleep_microseconds: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalSleepDataset and return the Output."""
    def ExperimentalSlidingWindowDataset(self, input_dataset: OutputLike, window_size: TensorLike, window_shift: TensorLike, window_stride: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that passes a sliding window over `input_dataset`."""
    def ExperimentalSqlDataset(self, driver_name: TensorLike, data_source_name: TensorLike, query: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that executes a SQL query and emits rows of the result set."""
    def ExperimentalStatsAggregatorHandle(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Creates a statistics manager resource."""
    def ExperimentalStatsAggregatorSummary(self, iterator: OutputLike, /, *, name: str | None = None) -> Output:
        """Produces a summary of any statistics recorded by the given statistics manager."""
    def ExperimentalTakeWhileDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], /, *, predicate: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Creates a dataset that stops iteration when predicate` is false."""
    def ExperimentalThreadPoolDataset(self, input_dataset: OutputLike, thread_pool: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that uses a custom thread pool to compute `input_dataset`."""
    def ExperimentalThreadPoolHandle(self, *, num_threads: int, display_name: str | bytes, max_intra_op_parallelism: int = 1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that uses a custom thread pool to compute `input_dataset`."""
    def ExperimentalUnbatchDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """A dataset that splits the elements of its input into multiple elements."""
    def ExperimentalUniqueDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that contains the unique elements of `input_dataset`."""
    def Expint(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Expint and return the Output."""
    def Expm1(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes `exp(x) - 1` element-wise."""
    def ExtractGlimpse(self, input: TensorLike, size: TensorLike, offsets: TensorLike, /, *, centered: bool = True, normalized: bool = True, uniform_noise: bool = True, noise: str | bytes = 'uniform', name: str | None = None) -> Output:
        """Extracts a glimpse from the input tensor."""
    def ExtractGlimpseV2(self, input: TensorLike, size: TensorLike, offsets: TensorLike, /, *, centered: bool = True, normalized: bool = True, uniform_noise: bool = True, noise: str | bytes = 'uniform', name: str | None = None) -> Output:
        """Extracts a glimpse from the input tensor."""
    def ExtractImagePatches(self, images: TensorLike, /, *, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Extract `patches` from `images` and put them in the "depth" output dimension."""
    def ExtractJpegShape(self, contents: TensorLike, /, *, output_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Extract the shape information of a JPEG-encoded image."""
    def ExtractVolumePatches(self, input: TensorLike, /, *, ksizes: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Extract `patches` from `input` and put them in the `"depth"` output dimension. 3D extension of `extract_image_patches`."""
    def FFT(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Fast Fourier transform."""
    def FFT2D(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """2D fast Fourier transform."""
    def FFT3D(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """3D fast Fourier transform."""
    def FFTND(self, input: TensorLike, fft_length: TensorLike, axes: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """ND fast Fourier transform."""
    def FIFOQueue(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A queue that produces elements in first-in first-out order."""
    def FIFOQueueV2(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A queue that produces elements in first-in first-out order."""
    def Fact(self, *, name: str | None = None) -> Output:
        """Output a fact about factorials."""
    def FakeParam(self, *, dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Output:
        """This op is used as a placeholder in If branch functions."""
    def FakeQuantWithMinMaxArgs(self, inputs: TensorLike, /, *, min: float = -6.0, max: float = 6.0, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Output:
        """Fake-quantize the 'inputs' tensor, type float to 'outputs' tensor of same shape and type."""
    def FakeQuantWithMinMaxArgsGradient(self, gradients: TensorLike, inputs: TensorLike, /, *, min: float = -6.0, max: float = 6.0, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Output:
        """Compute gradients for a FakeQuantWithMinMaxArgs operation."""
    def FakeQuantWithMinMaxVars(self, inputs: TensorLike, min: TensorLike, max: TensorLike, /, *, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Output:
        """Fake-quantize the 'inputs' tensor of type float via global float scalars."""
    def FakeQuantWithMinMaxVarsGradient(self, gradients: TensorLike, inputs: TensorLike, min: TensorLike, max: TensorLike, /, *, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Compute gradients for a FakeQuantWithMinMaxVars operation."""
    def FakeQuantWithMinMaxVarsPerChannel(self, inputs: TensorLike, min: TensorLike, max: TensorLike, /, *, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Output:
        """Fake-quantize the 'inputs' tensor of type float via per-channel floats."""
    def FakeQuantWithMinMaxVarsPerChannelGradient(self, gradients: TensorLike, inputs: TensorLike, min: TensorLike, max: TensorLike, /, *, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Compute gradients for a FakeQuantWithMinMaxVarsPerChannel operation."""
    def FakeQueue(self, resource: OutputLike, /, *, name: str | None = None) -> Output:
        """Deprecated."""
    def FileSystemSetConfiguration(self, scheme: TensorLike, key: TensorLike, value: TensorLike, /, *, name: str | None = None) -> Node:
        """Set configuration of the file system."""
    def Fill(self, dims: TensorLike, value: TensorLike, /, *, T: DTypeLike | None = None, index_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Creates a tensor filled with a scalar value."""
    def FilterByLastComponentDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset containing elements of first component of `input_dataset` having true in the last component."""
    def FilterDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], /, *, predicate: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset containing elements of `input_dataset` matching `predicate`."""
    def FinalizeDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], has_captured_ref: bool = False, name: str | None = None) -> Output:
        """Creates a dataset by applying `tf.data.Options` to `input_dataset`."""
    def FinalizeTPUEmbedding(self, common_config: TensorLike, memory_config: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type FinalizeTPUEmbedding and return the Node."""
    def FinalizeTPUEmbeddingV2(self, common_config: TensorLike, memory_config: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type FinalizeTPUEmbeddingV2 and return a tuple of Outputs."""
    def Fingerprint(self, data: TensorLike, method: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Generates fingerprint values."""
    def FiveFloatOutputs(self, *, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type FiveFloatOutputs and return a tuple of Outputs."""
    def FixedLengthRecordDataset(self, filenames: TensorLike, header_bytes: TensorLike, record_bytes: TensorLike, footer_bytes: TensorLike, buffer_size: TensorLike, /, *, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that emits the records from one or more binary files."""
    def FixedLengthRecordDatasetV2(self, filenames: TensorLike, header_bytes: TensorLike, record_bytes: TensorLike, footer_bytes: TensorLike, buffer_size: TensorLike, compression_type: TensorLike, /, *, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type FixedLengthRecordDatasetV2 and return the Output."""
    def FixedLengthRecordReader(self, *, record_bytes: int, header_bytes: int = 0, footer_bytes: int = 0, hop_bytes: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A Reader that outputs fixed-length records from a file."""
    def FixedLengthRecordReaderV2(self, *, record_bytes: int, header_bytes: int = 0, footer_bytes: int = 0, hop_bytes: int = 0, container: str | bytes = '', shared_name: str | bytes = '', encoding: str | bytes = '', name: str | None = None) -> Output:
        """A Reader that outputs fixed-length records from a file."""
    def FixedUnigramCandidateSampler(self, true_classes: TensorLike, /, *, num_true: int, num_sampled: int, unique: bool, range_max: int, vocab_file: str | bytes = '', distortion: float = 1.0, num_reserved_ids: int = 0, num_shards: int = 1, shard: int = 0, unigrams: Sequence[float] = ..., seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Generates labels for candidate sampling with a learned unigram distribution."""
    def FlatMapDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that applies `f` to the outputs of `input_dataset`."""
    def FloatInput(self, a: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type FloatInput and return the Node."""
    def FloatOutput(self, *, name: str | None = None) -> Output:
        """Add a node of type FloatOutput and return the Output."""
    def FloatOutputStringOutput(self, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type FloatOutputStringOutput and return a tuple of Outputs."""
    def Floor(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns element-wise largest integer not greater than x."""
    def FloorDiv(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns x // y element-wise."""
    def FloorMod(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns element-wise remainder of division."""
    def FlushSummaryWriter(self, writer: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type FlushSummaryWriter and return the Node."""
    def Foo1(self, a: TensorLike, b: TensorLike, c: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type Foo1 and return a tuple of Outputs."""
    def Foo2(self, a: TensorLike, b: TensorLike, c: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type Foo2 and return a tuple of Outputs."""
    def Foo3(self, a: TensorLike, b: TensorLike, c: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type Foo3 and return a tuple of Outputs."""
    def For(self, start: TensorLike, limit: TensorLike, delta: TensorLike, input: Sequence[TensorLike], /, *, body: FuncRef | str, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Applies a for loop."""
    def FractionalAvgPool(self, value: TensorLike, /, *, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Performs fractional average pooling on the input."""
    def FractionalAvgPoolGrad(self, orig_input_tensor_shape: TensorLike, out_backprop: TensorLike, row_pooling_sequence: TensorLike, col_pooling_sequence: TensorLike, /, *, overlapping: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes gradient of the FractionalAvgPool function."""
    def FractionalMaxPool(self, value: TensorLike, /, *, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Performs fractional max pooling on the input."""
    def FractionalMaxPoolGrad(self, orig_input: TensorLike, orig_output: TensorLike, out_backprop: TensorLike, row_pooling_sequence: TensorLike, col_pooling_sequence: TensorLike, /, *, overlapping: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes gradient of the FractionalMaxPool function."""
    def FresnelCos(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type FresnelCos and return the Output."""
    def FresnelSin(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type FresnelSin and return the Output."""
    def FuncAttr(self, *, f: FuncRef | str, name: str | None = None) -> Node:
        """Add a node of type FuncAttr and return the Node."""
    def FuncListAttr(self, *, f: Sequence[FuncRef | str], name: str | None = None) -> Node:
        """Add a node of type FuncListAttr and return the Node."""
    def FusedBatchNorm(self, x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike, variance: TensorLike, /, *, T: DTypeLike | None = None, epsilon: float = 9.999999747378752e-05, exponential_avg_factor: float = 1.0, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Batch normalization."""
    def FusedBatchNormGrad(self, y_backprop: TensorLike, x: TensorLike, scale: TensorLike, reserve_space_1: TensorLike, reserve_space_2: TensorLike, /, *, T: DTypeLike | None = None, epsilon: float = 9.999999747378752e-05, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Gradient for batch normalization."""
    def FusedBatchNormGradV2(self, y_backprop: TensorLike, x: TensorLike, scale: TensorLike, reserve_space_1: TensorLike, reserve_space_2: TensorLike, /, *, T: DTypeLike | None = None, U: DTypeLike | None = None, epsilon: float = 9.999999747378752e-05, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Gradient for batch normalization."""
    def FusedBatchNormGradV3(self, y_backprop: TensorLike, x: TensorLike, scale: TensorLike, reserve_space_1: TensorLike, reserve_space_2: TensorLike, reserve_space_3: TensorLike, /, *, T: DTypeLike | None = None, U: DTypeLike | None = None, epsilon: float = 9.999999747378752e-05, data_format: Literal['NHWC', 'NCHW', 'NDHWC', 'NCDHW'] | bytes = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Gradient for batch normalization."""
    def FusedBatchNormV2(self, x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike, variance: TensorLike, /, *, T: DTypeLike | None = None, U: DTypeLike | None = None, epsilon: float = 9.999999747378752e-05, exponential_avg_factor: float = 1.0, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Batch normalization."""
    def FusedBatchNormV3(self, x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike, variance: TensorLike, /, *, T: DTypeLike | None = None, U: DTypeLike | None = None, epsilon: float = 9.999999747378752e-05, exponential_avg_factor: float = 1.0, data_format: Literal['NHWC', 'NCHW', 'NDHWC', 'NCDHW'] | bytes = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output]:
        """Batch normalization."""
    def FusedPadConv2D(self, input: TensorLike, paddings: TensorLike, filter: TensorLike, /, *, mode: Literal['REFLECT', 'SYMMETRIC'] | bytes, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Performs a padding as a preprocess during a convolution."""
    def FusedResizeAndPadConv2D(self, input: TensorLike, size: TensorLike, paddings: TensorLike, filter: TensorLike, /, *, mode: Literal['REFLECT', 'SYMMETRIC'] | bytes, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, resize_align_corners: bool = False, name: str | None = None) -> Output:
        """Performs a resize and padding as a preprocess during a convolution."""
    def GRUBlockCell(self, x: TensorLike, h_prev: TensorLike, w_ru: TensorLike, w_c: TensorLike, b_ru: TensorLike, b_c: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Computes the GRU cell forward propagation for 1 time step."""
    def GRUBlockCellGrad(self, x: TensorLike, h_prev: TensorLike, w_ru: TensorLike, w_c: TensorLike, b_ru: TensorLike, b_c: TensorLike, r: TensorLike, u: TensorLike, c: TensorLike, d_h: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Computes the GRU cell back-propagation for 1 time step."""
    def Gather(self, params: TensorLike, indices: TensorLike, /, *, validate_indices: bool = True, Tparams: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Gather slices from `params` according to `indices`."""
    def GatherNd(self, params: TensorLike, indices: TensorLike, /, *, Tparams: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Gather slices from `params` into a Tensor with shape specified by `indices`."""
    def GatherV2(self, params: TensorLike, indices: TensorLike, axis: TensorLike, /, *, batch_dims: int = 0, Tparams: DTypeLike | None = None, Tindices: DTypeLike | None = None, Taxis: DTypeLike | None = None, name: str | None = None) -> Output:
        """Gather slices from `params` axis `axis` according to `indices`."""
    def GenerateBoundingBoxProposals(self, scores: TensorLike, bbox_deltas: TensorLike, image_info: TensorLike, anchors: TensorLike, nms_threshold: TensorLike, pre_nms_topn: TensorLike, min_size: TensorLike, /, *, post_nms_topn: int = 300, name: str | None = None) -> tuple[Output, Output]:
        """This op produces Region of Interests from given bounding boxes(bbox_deltas) encoded wrt anchors according to eq.2 in arXiv:1506.01497."""
    def GenerateVocabRemapping(self, new_vocab_file: TensorLike, old_vocab_file: TensorLike, /, *, new_vocab_offset: int, num_new_vocab: int, old_vocab_size: int = -1, name: str | None = None) -> tuple[Output, Output]:
        """Given a path to new and old vocabulary files, returns a remapping Tensor of."""
    def GeneratorDataset(self, init_func_other_args: Sequence[TensorLike], next_func_other_args: Sequence[TensorLike], finalize_func_other_args: Sequence[TensorLike], /, *, init_func: FuncRef | str, next_func: FuncRef | str, finalize_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tinit_func_args: Sequence[DTypeLike] | None = None, Tnext_func_args: Sequence[DTypeLike] | None = None, Tfinalize_func_args: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that invokes a function to generate elements."""
    def GetDeadline(self, *, name: str | None = None) -> Output:
        """Add a node of type GetDeadline and return the Output."""
    def GetElementAtIndex(self, dataset: OutputLike, index: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Gets the element at the specified index in a dataset."""
    def GetMinibatchSplitsWithPhysicalReplica(self, program_key: TensorLike, row_ids: TensorLike, col_ids: TensorLike, gains: TensorLike, /, *, sample_count: int, num_replica: int, table_vocab_size: int, feature_width: int, num_sc_per_chip: int, table_name: str | bytes, mini_batch_splits: str | bytes, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type GetMinibatchSplitsWithPhysicalReplica and return a tuple of Outputs."""
    def GetMinibatchesInCsrWithPhysicalReplica(self, program_key: TensorLike, row_ids: TensorLike, col_ids: TensorLike, gains: TensorLike, splits: TensorLike, id_counts: TensorLike, /, *, sample_count: int, num_replica: int, max_minibatches_per_sc: int, max_ids_per_chip_per_sample: int, table_vocab_size: int, feature_width: int, num_sc_per_chip: int, table_name: str | bytes, mini_batch_in_csr: str | bytes, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type GetMinibatchesInCsrWithPhysicalReplica and return a tuple of Outputs."""
    def GetOptions(self, input_dataset: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the `tf.data.Options` attached to `input_dataset`."""
    def GetSessionHandle(self, value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Store the input tensor in the state of the current session."""
    def GetSessionHandleV2(self, value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Store the input tensor in the state of the current session."""
    def GetSessionTensor(self, handle: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Get the value of the tensor specified by its handle."""
    def GetStatsFromListOfSparseCoreCooTensors(self, row_ids_list: Sequence[TensorLike], col_ids_list: Sequence[TensorLike], gains_list: Sequence[TensorLike], /, *, sample_count_list: Sequence[int], col_offset_list: Sequence[int], num_replica: int, table_vocab_size: int, feature_width: int, num_sc_per_chip: int, table_name: str | bytes, N: int | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type GetStatsFromListOfSparseCoreCooTensors and return a tuple of Outputs."""
    def GetTpuTaskId(self, *, name: str | None = None) -> Output:
        """Add a node of type GetTpuTaskId and return the Output."""
    def GlobalIterId(self, *, name: str | None = None) -> Output:
        """Add a node of type GlobalIterId and return the Output."""
    def GlobalShuffleDataset(self, input_dataset: OutputLike, seed: TensorLike, seed2: TensorLike, seed_generator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reshuffle_each_iteration: bool = True, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type GlobalShuffleDataset and return the Output."""
    def GraphDefVersion(self, *, name: str | None = None) -> Output:
        """Add a node of type GraphDefVersion and return the Output."""
    def Greater(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the truth value of (x > y) element-wise."""
    def GreaterEqual(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the truth value of (x >= y) element-wise."""
    def GroupByReducerDataset(self, input_dataset: OutputLike, key_func_other_arguments: Sequence[TensorLike], init_func_other_arguments: Sequence[TensorLike], reduce_func_other_arguments: Sequence[TensorLike], finalize_func_other_arguments: Sequence[TensorLike], /, *, key_func: FuncRef | str, init_func: FuncRef | str, reduce_func: FuncRef | str, finalize_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tkey_func_other_arguments: Sequence[DTypeLike] | None = None, Tinit_func_other_arguments: Sequence[DTypeLike] | None = None, Treduce_func_other_arguments: Sequence[DTypeLike] | None = None, Tfinalize_func_other_arguments: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Creates a dataset that computes a group-by on `input_dataset`."""
    def GroupByWindowDataset(self, input_dataset: OutputLike, key_func_other_arguments: Sequence[TensorLike], reduce_func_other_arguments: Sequence[TensorLike], window_size_func_other_arguments: Sequence[TensorLike], /, *, key_func: FuncRef | str, reduce_func: FuncRef | str, window_size_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tkey_func_other_arguments: Sequence[DTypeLike] | None = None, Treduce_func_other_arguments: Sequence[DTypeLike] | None = None, Twindow_size_func_other_arguments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that computes a windowed group-by on `input_dataset`."""
    def GuaranteeConst(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Gives a guarantee to the TF runtime that the input tensor is a constant."""
    def HSVToRGB(self, images: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Convert one or more images from HSV to RGB."""
    def HashTable(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, name: str | None = None) -> Output:
        """Creates a non-initialized hash table."""
    def HashTableV2(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, name: str | None = None) -> Output:
        """Creates a non-initialized hash table."""
    def HistogramFixedWidth(self, values: TensorLike, value_range: TensorLike, nbins: TensorLike, /, *, T: DTypeLike | None = None, dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Return histogram of values."""
    def HistogramSummary(self, tag: TensorLike, values: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs a `Summary` protocol buffer with a histogram."""
    def HostConst(self, *, value: Tensor | ArrayLike, dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type HostConst and return the Output."""
    def IFFT(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Inverse fast Fourier transform."""
    def IFFT2D(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Inverse 2D fast Fourier transform."""
    def IFFT3D(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Inverse 3D fast Fourier transform."""
    def IFFTND(self, input: TensorLike, fft_length: TensorLike, axes: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """ND inverse fast Fourier transform."""
    def IRFFT(self, input: TensorLike, fft_length: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Inverse real-valued fast Fourier transform."""
    def IRFFT2D(self, input: TensorLike, fft_length: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Inverse 2D real-valued fast Fourier transform."""
    def IRFFT3D(self, input: TensorLike, fft_length: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Inverse 3D real-valued fast Fourier transform."""
    def IRFFTND(self, input: TensorLike, fft_length: TensorLike, axes: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """ND inverse real fast Fourier transform."""
    def Identity(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Return a tensor with the same shape and contents as the input tensor or value."""
    def IdentityN(self, input: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Returns a list of tensors with the same shapes and contents as the input."""
    def IdentityReader(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A Reader that outputs the queued work as both the key and value."""
    def IdentityReaderV2(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A Reader that outputs the queued work as both the key and value."""
    def If(self, cond: TensorLike, input: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], then_branch: FuncRef | str, else_branch: FuncRef | str, Tcond: DTypeLike | None = None, Tin: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """Output = cond ? then_branch(input) : else_branch(input)."""
    def Igamma(self, a: TensorLike, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Compute the lower regularized incomplete Gamma function `P(a, x)`."""
    def IgammaGradA(self, a: TensorLike, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the gradient of `igamma(a, x)` wrt `a`."""
    def Igammac(self, a: TensorLike, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Compute the upper regularized incomplete Gamma function `Q(a, x)`."""
    def IgnoreErrorsDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], log_warning: bool = False, name: str | None = None) -> Output:
        """Creates a dataset that contains the elements of `input_dataset` ignoring errors."""
    def Imag(self, input: TensorLike, /, *, T: DTypeLike = ..., Tout: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns the imaginary part of a complex number."""
    def ImageProjectiveTransformV2(self, images: TensorLike, transforms: TensorLike, output_shape: TensorLike, /, *, interpolation: str | bytes, dtype: DTypeLike | None = None, fill_mode: str | bytes = 'CONSTANT', name: str | None = None) -> Output:
        """Applies the given transform to each of the images."""
    def ImageProjectiveTransformV3(self, images: TensorLike, transforms: TensorLike, output_shape: TensorLike, fill_value: TensorLike, /, *, interpolation: str | bytes, dtype: DTypeLike | None = None, fill_mode: str | bytes = 'CONSTANT', name: str | None = None) -> Output:
        """Applies the given transform to each of the images."""
    def ImageSummary(self, tag: TensorLike, tensor: TensorLike, /, *, max_images: int = 3, T: DTypeLike = ..., bad_color: Tensor | ArrayLike = ..., name: str | None = None) -> Output:
        """Outputs a `Summary` protocol buffer with images."""
    def ImmutableConst(self, *, dtype: DTypeLike, shape: ShapeLike, memory_region_name: str | bytes, name: str | None = None) -> Output:
        """Returns immutable tensor from memory region."""
    def ImportEvent(self, writer: OutputLike, event: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ImportEvent and return the Node."""
    def InPolymorphicTwice(self, a: Sequence[TensorLike], b: Sequence[TensorLike], /, *, T: DTypeLike = ..., N: int | None = None, M: int | None = None, name: str | None = None) -> Node:
        """Add a node of type InPolymorphicTwice and return the Node."""
    def InTopK(self, predictions: TensorLike, targets: TensorLike, /, *, k: int, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Says whether the targets are in the top `K` predictions."""
    def InTopKV2(self, predictions: TensorLike, targets: TensorLike, k: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Says whether the targets are in the top `K` predictions."""
    def IndexFlatMapDataset(self, input_dataset: OutputLike, map_func_other_args: Sequence[TensorLike], index_map_func_other_args: Sequence[TensorLike], output_cardinality: TensorLike, /, *, map_func: FuncRef | str, index_map_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tmap_func_args: Sequence[DTypeLike] | None = None, Tindex_map_func_args: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type IndexFlatMapDataset and return the Output."""
    def InfeedDequeue(self, *, dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Output:
        """A placeholder op for a value that will be fed into the computation."""
    def InfeedDequeueTuple(self, *, dtypes: Sequence[DTypeLike], shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Fetches multiple values from infeed as an XLA tuple."""
    def InfeedEnqueue(self, input: TensorLike, /, *, dtype: DTypeLike | None = None, shape: ShapeLike = ..., layout: Sequence[int] = ..., device_ordinal: int = -1, name: str | None = None) -> Node:
        """An op which feeds a single Tensor value into the computation."""
    def InfeedEnqueuePrelinearizedBuffer(self, input: OutputLike, /, *, device_ordinal: int = -1, name: str | None = None) -> Node:
        """An op which enqueues prelinearized buffer into TPU infeed."""
    def InfeedEnqueueTuple(self, inputs: Sequence[TensorLike], /, *, shapes: Sequence[ShapeLike], dtypes: Sequence[DTypeLike] | None = None, layouts: Sequence[int] = ..., device_ordinal: int = -1, name: str | None = None) -> Node:
        """Feeds multiple Tensor values into the computation as an XLA tuple."""
    def InitializeTable(self, table_handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, Tkey: DTypeLike | None = None, Tval: DTypeLike | None = None, name: str | None = None) -> Node:
        """Table initializer that takes two tensors for keys and values respectively."""
    def InitializeTableFromDataset(self, table_handle: OutputLike, dataset: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type InitializeTableFromDataset and return the Node."""
    def InitializeTableFromTextFile(self, table_handle: OutputLike, filename: TensorLike, /, *, key_index: int, value_index: int, vocab_size: int = -1, delimiter: str | bytes = '\t', offset: int = 0, name: str | None = None) -> Node:
        """Initializes a table from a text file."""
    def InitializeTableFromTextFileV2(self, table_handle: OutputLike, filename: TensorLike, /, *, key_index: int, value_index: int, vocab_size: int = -1, delimiter: str | bytes = '\t', offset: int = 0, name: str | None = None) -> Node:
        """Initializes a table from a text file."""
    def InitializeTableV2(self, table_handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, Tkey: DTypeLike | None = None, Tval: DTypeLike | None = None, name: str | None = None) -> Node:
        """Table initializer that takes two tensors for keys and values respectively."""
    def InplaceAdd(self, x: TensorLike, i: TensorLike, v: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Adds v into specified rows of x."""
    def InplaceSub(self, x: TensorLike, i: TensorLike, v: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Subtracts `v` into specified rows of `x`."""
    def InplaceUpdate(self, x: TensorLike, i: TensorLike, v: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Updates specified rows 'i' with values 'v'."""
    def Int64Output(self, *, name: str | None = None) -> Output:
        """Add a node of type Int64Output and return the Output."""
    def IntAttr(self, *, foo: int = 1, name: str | None = None) -> Output:
        """Add a node of type IntAttr and return the Output."""
    def IntInput(self, a: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type IntInput and return the Node."""
    def IntInputFloatInput(self, a: TensorLike, b: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type IntInputFloatInput and return the Node."""
    def IntInputIntOutput(self, a: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type IntInputIntOutput and return the Output."""
    def IntOutput(self, *, name: str | None = None) -> Output:
        """Add a node of type IntOutput and return the Output."""
    def IntOutputFloatOutput(self, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type IntOutputFloatOutput and return a tuple of Outputs."""
    def InterleaveDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that applies `f` to the outputs of `input_dataset`."""
    def Inv(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the reciprocal of x element-wise."""
    def InvGrad(self, y: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the gradient for the inverse of `x` wrt its input."""
    def Invert(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Invert (flip) each bit of supported types; for example, type `uint8` value 01010101 becomes 10101010."""
    def InvertPermutation(self, x: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the inverse permutation of a tensor."""
    def IsBoostedTreesEnsembleInitialized(self, tree_ensemble_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Checks whether a tree ensemble has been initialized."""
    def IsBoostedTreesQuantileStreamResourceInitialized(self, quantile_stream_resource_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Checks whether a quantile stream has been initialized."""
    def IsFinite(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns which elements of x are finite."""
    def IsInf(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns which elements of x are Inf."""
    def IsNan(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns which elements of x are NaN."""
    def IsResourceHandleRefCounting(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type IsResourceHandleRefCounting and return the Output."""
    def IsTPUEmbeddingInitialized(self, *, config: str | bytes = '', name: str | None = None) -> Output:
        """Whether TPU Embedding is initialized in a distributed TPU system."""
    def IsTensorFloat32Enabled(self, *, name: str | None = None) -> Output:
        """Add a node of type IsTensorFloat32Enabled and return the Output."""
    def IsVariableInitialized(self, ref: OutputLike, /, *, dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Checks whether a tensor has been initialized."""
    def IsotonicRegression(self, input: TensorLike, /, *, T: DTypeLike | None = None, output_dtype: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Solves a batch of isotonic regression problems."""
    def Iterator(self, *, shared_name: str | bytes, container: str | bytes, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """A container for an iterator resource."""
    def IteratorFromStringHandle(self, string_handle: TensorLike, /, *, output_types: Sequence[DTypeLike] = ..., output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> Output:
        """Converts the given string representing a handle to an iterator to a resource."""
    def IteratorFromStringHandleV2(self, string_handle: TensorLike, /, *, output_types: Sequence[DTypeLike] = ..., output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> Output:
        """Add a node of type IteratorFromStringHandleV2 and return the Output."""
    def IteratorGetDevice(self, resource: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the name of the device on which `resource` has been placed."""
    def IteratorGetModelProto(self, iterator: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the serialized model proto of an iterator resource."""
    def IteratorGetNext(self, iterator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Gets the next output from the given iterator ."""
    def IteratorGetNextAsOptional(self, iterator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Gets the next output from the given iterator as an Optional variant."""
    def IteratorGetNextSync(self, iterator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Gets the next output from the given iterator."""
    def IteratorToStringHandle(self, resource_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Converts the given `resource_handle` representing an iterator to a string."""
    def IteratorV2(self, *, shared_name: str | bytes, container: str | bytes, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type IteratorV2 and return the Output."""
    def KMC2ChainInitialization(self, distances: TensorLike, seed: TensorLike, /, *, name: str | None = None) -> Output:
        """Returns the index of a data point that should be added to the seed set."""
    def KernelLabel(self, *, name: str | None = None) -> Output:
        """Add a node of type KernelLabel and return the Output."""
    def KernelLabelRequired(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type KernelLabelRequired and return the Output."""
    def KmeansPlusPlusInitialization(self, points: TensorLike, num_to_sample: TensorLike, seed: TensorLike, num_retries_per_sample: TensorLike, /, *, name: str | None = None) -> Output:
        """Selects num_to_sample rows of input using the KMeans++ criterion."""
    def KthOrderStatistic(self, input: TensorLike, /, *, k: int, name: str | None = None) -> Output:
        """Add a node of type KthOrderStatistic and return the Output."""
    def L2Loss(self, t: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """L2 Loss."""
    def LMDBDataset(self, filenames: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that emits the key-value pairs in one or more LMDB files."""
    def LMDBReader(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A Reader that outputs the records from a LMDB file."""
    def LRN(self, input: TensorLike, /, *, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Local Response Normalization."""
    def LRNGrad(self, input_grads: TensorLike, input_image: TensorLike, output_image: TensorLike, /, *, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Gradients for Local Response Normalization."""
    def LSTMBlockCell(self, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, /, *, forget_bias: float = 1.0, cell_clip: float = 3.0, use_peephole: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Computes the LSTM cell forward propagation for 1 time step."""
    def LSTMBlockCellGrad(self, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, i: TensorLike, cs: TensorLike, f: TensorLike, o: TensorLike, ci: TensorLike, co: TensorLike, cs_grad: TensorLike, h_grad: TensorLike, /, *, use_peephole: bool, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Computes the LSTM cell backward propagation for 1 timestep."""
    def LatencyStatsDataset(self, input_dataset: OutputLike, tag: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Records the latency of producing `input_dataset` elements in a StatsAggregator."""
    def LeakyRelu(self, features: TensorLike, /, *, alpha: float = 0.20000000298023224, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes rectified linear: `max(features, features * alpha)`."""
    def LeakyReluGrad(self, gradients: TensorLike, features: TensorLike, /, *, alpha: float = 0.20000000298023224, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes rectified linear gradients for a LeakyRelu operation."""
    def LearnedUnigramCandidateSampler(self, true_classes: TensorLike, /, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Generates labels for candidate sampling with a learned unigram distribution."""
    def LeftShift(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Elementwise computes the bitwise left-shift of `x` and `y`."""
    def LegacyParallelInterleaveDatasetV2(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, buffer_output_elements: TensorLike, prefetch_input_elements: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], deterministic: str | bytes = 'default', Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that applies `f` to the outputs of `input_dataset`."""
    def Less(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the truth value of (x < y) element-wise."""
    def LessEqual(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the truth value of (x <= y) element-wise."""
    def Lgamma(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the log of the absolute value of `Gamma(x)` element-wise."""
    def LinSpace(self, start: TensorLike, stop: TensorLike, num: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Generates values in an interval."""
    def ListDataset(self, tensors: Sequence[TensorLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tinput_types: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that emits each of `tensors` once."""
    def ListDiff(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, out_idx: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Computes the difference between two lists of numbers or strings."""
    def ListInput(self, a: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type ListInput and return the Node."""
    def ListOutput(self, *, T: Sequence[DTypeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type ListOutput and return a tuple of Outputs."""
    def ListSnapshotChunksDataset(self, snapshot_path: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ListSnapshotChunksDataset and return the Output."""
    def LoadAllTPUEmbeddingParameters(self, parameters: Sequence[TensorLike], auxiliary1: Sequence[TensorLike], auxiliary2: Sequence[TensorLike], auxiliary3: Sequence[TensorLike], auxiliary4: Sequence[TensorLike], auxiliary5: Sequence[TensorLike], auxiliary6: Sequence[TensorLike], auxiliary7: Sequence[TensorLike], /, *, config: str | bytes, num_shards: int, shard_id: int, NumTables: int | None = None, name: str | None = None) -> Node:
        """Add a node of type LoadAllTPUEmbeddingParameters and return the Node."""
    def LoadAndRemapMatrix(self, ckpt_path: TensorLike, old_tensor_name: TensorLike, row_remapping: TensorLike, col_remapping: TensorLike, initializing_values: TensorLike, /, *, num_rows: int, num_cols: int, max_rows_in_memory: int = -1, name: str | None = None) -> Output:
        """Loads a 2-D (matrix) `Tensor` with name `old_tensor_name` from the checkpoint."""
    def LoadDataset(self, path: TensorLike, reader_func_other_args: Sequence[TensorLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reader_func: FuncRef | str, compression: str | bytes = '', Treader_func_args: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type LoadDataset and return the Output."""
    def LoadTPUEmbeddingADAMParameters(self, parameters: TensorLike, momenta: TensorLike, velocities: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Load ADAM embedding parameters."""
    def LoadTPUEmbeddingAdadeltaParameters(self, parameters: TensorLike, accumulators: TensorLike, updates: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Load Adadelta embedding parameters."""
    def LoadTPUEmbeddingAdagradMomentumParameters(self, parameters: TensorLike, accumulators: TensorLike, momenta: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Load Adagrad Momentum embedding parameters."""
    def LoadTPUEmbeddingAdagradParameters(self, parameters: TensorLike, accumulators: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Load Adagrad embedding parameters."""
    def LoadTPUEmbeddingCenteredRMSPropParameters(self, parameters: TensorLike, ms: TensorLike, mom: TensorLike, mg: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Load centered RMSProp embedding parameters."""
    def LoadTPUEmbeddingFTRLParameters(self, parameters: TensorLike, accumulators: TensorLike, linears: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Load FTRL embedding parameters."""
    def LoadTPUEmbeddingFrequencyEstimatorParameters(self, parameters: TensorLike, last_hit_step: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Load frequency estimator embedding parameters."""
    def LoadTPUEmbeddingMDLAdagradLightParameters(self, parameters: TensorLike, accumulators: TensorLike, weights: TensorLike, benefits: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Load MDL Adagrad Light embedding parameters."""
    def LoadTPUEmbeddingMomentumParameters(self, parameters: TensorLike, momenta: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Load Momentum embedding parameters."""
    def LoadTPUEmbeddingProximalAdagradParameters(self, parameters: TensorLike, accumulators: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Load proximal Adagrad embedding parameters."""
    def LoadTPUEmbeddingProximalYogiParameters(self, parameters: TensorLike, v: TensorLike, m: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingProximalYogiParameters and return the Node."""
    def LoadTPUEmbeddingRMSPropParameters(self, parameters: TensorLike, ms: TensorLike, mom: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Load RMSProp embedding parameters."""
    def LoadTPUEmbeddingStochasticGradientDescentParameters(self, parameters: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Load SGD embedding parameters."""
    def Log(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes natural logarithm of x element-wise."""
    def Log1p(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes natural logarithm of (1 + x) element-wise."""
    def LogMatrixDeterminant(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Computes the sign and the log of the absolute value of the determinant of."""
    def LogSoftmax(self, logits: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes log softmax activations."""
    def LogUniformCandidateSampler(self, true_classes: TensorLike, /, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Generates labels for candidate sampling with a log-uniform distribution."""
    def LogicalAnd(self, x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> Output:
        """Returns the truth value of x AND y element-wise."""
    def LogicalNot(self, x: TensorLike, /, *, name: str | None = None) -> Output:
        """Returns the truth value of `NOT x` element-wise."""
    def LogicalOr(self, x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> Output:
        """Returns the truth value of x OR y element-wise."""
    def LookupTableExport(self, table_handle: OutputLike, /, *, Tkeys: DTypeLike, Tvalues: DTypeLike, name: str | None = None) -> tuple[Output, Output]:
        """Outputs all keys and values in the table."""
    def LookupTableExportV2(self, table_handle: OutputLike, /, *, Tkeys: DTypeLike, Tvalues: DTypeLike, name: str | None = None) -> tuple[Output, Output]:
        """Outputs all keys and values in the table."""
    def LookupTableFind(self, table_handle: OutputLike, keys: TensorLike, default_value: TensorLike, /, *, Tin: DTypeLike | None = None, Tout: DTypeLike | None = None, name: str | None = None) -> Output:
        """Looks up keys in a table, outputs the corresponding values."""
    def LookupTableFindV2(self, table_handle: OutputLike, keys: TensorLike, default_value: TensorLike, /, *, Tin: DTypeLike | None = None, Tout: DTypeLike | None = None, name: str | None = None) -> Output:
        """Looks up keys in a table, outputs the corresponding values."""
    def LookupTableImport(self, table_handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, Tin: DTypeLike | None = None, Tout: DTypeLike | None = None, name: str | None = None) -> Node:
        """Replaces the contents of the table with the specified keys and values."""
    def LookupTableImportV2(self, table_handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, Tin: DTypeLike | None = None, Tout: DTypeLike | None = None, name: str | None = None) -> Node:
        """Replaces the contents of the table with the specified keys and values."""
    def LookupTableInsert(self, table_handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, Tin: DTypeLike | None = None, Tout: DTypeLike | None = None, name: str | None = None) -> Node:
        """Updates the table to associates keys with values."""
    def LookupTableInsertV2(self, table_handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, Tin: DTypeLike | None = None, Tout: DTypeLike | None = None, name: str | None = None) -> Node:
        """Updates the table to associates keys with values."""
    def LookupTableRemoveV2(self, table_handle: OutputLike, keys: TensorLike, /, *, Tin: DTypeLike | None = None, name: str | None = None) -> Node:
        """Removes keys and its associated values from a table."""
    def LookupTableSize(self, table_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Computes the number of elements in the given table."""
    def LookupTableSizeV2(self, table_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Computes the number of elements in the given table."""
    def LoopCond(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Forwards the input to the output."""
    def LowerBound(self, sorted_inputs: TensorLike, values: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Applies lower_bound(sorted_search_values, values) along each row."""
    def Lu(self, input: TensorLike, /, *, T: DTypeLike | None = None, output_idx_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Computes the LU decomposition of one or more square matrices."""
    def MakeIterator(self, dataset: OutputLike, iterator: OutputLike, /, *, name: str | None = None) -> Node:
        """Makes a new iterator from the given `dataset` and stores it in `iterator`."""
    def MakeUnique(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type MakeUnique and return the Output."""
    def MakeWeakResourceHandle(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type MakeWeakResourceHandle and return the Output."""
    def MapAndBatchDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], batch_size: TensorLike, num_parallel_calls: TensorLike, drop_remainder: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, preserve_cardinality: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that fuses mapping with batching."""
    def MapClear(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Node:
        """Op removes all elements in the underlying container."""
    def MapDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, use_inter_op_parallelism: bool = True, preserve_cardinality: bool = False, force_synchronous: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that applies `f` to the outputs of `input_dataset`."""
    def MapDefun(self, arguments: Sequence[TensorLike], captured_inputs: Sequence[TensorLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], f: FuncRef | str, Targuments: Sequence[DTypeLike] | None = None, Tcaptured: Sequence[DTypeLike] = ..., max_intra_op_parallelism: int = 1, name: str | None = None) -> tuple[Output, ...]:
        """Maps a function on the list of tensors unpacked from arguments on dimension 0."""
    def MapIncompleteSize(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Op returns the number of incomplete elements in the underlying container."""
    def MapPeek(self, key: TensorLike, indices: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Op peeks at the values at the specified key."""
    def MapSize(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Op returns the number of elements in the underlying container."""
    def MapStage(self, key: TensorLike, indices: TensorLike, values: Sequence[TensorLike], /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, fake_dtypes: Sequence[DTypeLike] | None = None, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Node:
        """Stage (key, values) in the underlying container which behaves like a hashtable."""
    def MapUnstage(self, key: TensorLike, indices: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Op removes and returns the values associated with the key."""
    def MapUnstageNoKey(self, indices: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Op removes and returns a random (key, value)."""
    def MatMul(self, a: TensorLike, b: TensorLike, /, *, transpose_a: bool = False, transpose_b: bool = False, T: DTypeLike | None = None, grad_a: bool = False, grad_b: bool = False, name: str | None = None) -> Output:
        """Multiply the matrix "a" by the matrix "b"."""
    def MatchingFiles(self, pattern: TensorLike, /, *, name: str | None = None) -> Output:
        """Returns the set of files matching one or more glob patterns."""
    def MatchingFilesDataset(self, patterns: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type MatchingFilesDataset and return the Output."""
    def MatrixBandPart(self, input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, /, *, T: DTypeLike | None = None, Tindex: DTypeLike = ..., name: str | None = None) -> Output:
        """Copy a tensor setting everything outside a central band in each innermost matrix to zero."""
    def MatrixDeterminant(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the determinant of one or more square matrices."""
    def MatrixDiag(self, diagonal: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns a batched diagonal tensor with a given batched diagonal values."""
    def MatrixDiagPart(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the batched diagonal part of a batched tensor."""
    def MatrixDiagPartV2(self, input: TensorLike, k: TensorLike, padding_value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the batched diagonal part of a batched tensor."""
    def MatrixDiagPartV3(self, input: TensorLike, k: TensorLike, padding_value: TensorLike, /, *, T: DTypeLike | None = None, align: Literal['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'] | bytes = 'RIGHT_LEFT', name: str | None = None) -> Output:
        """Returns the batched diagonal part of a batched tensor."""
    def MatrixDiagV2(self, diagonal: TensorLike, k: TensorLike, num_rows: TensorLike, num_cols: TensorLike, padding_value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns a batched diagonal tensor with given batched diagonal values."""
    def MatrixDiagV3(self, diagonal: TensorLike, k: TensorLike, num_rows: TensorLike, num_cols: TensorLike, padding_value: TensorLike, /, *, T: DTypeLike | None = None, align: Literal['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'] | bytes = 'RIGHT_LEFT', name: str | None = None) -> Output:
        """Returns a batched diagonal tensor with given batched diagonal values."""
    def MatrixExponential(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Deprecated, use python implementation tf.linalg.matrix_exponential."""
    def MatrixInverse(self, input: TensorLike, /, *, adjoint: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the inverse of one or more square invertible matrices or their adjoints (conjugate transposes)."""
    def MatrixLogarithm(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the matrix logarithm of one or more square matrices."""
    def MatrixSetDiag(self, input: TensorLike, diagonal: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns a batched matrix tensor with new batched diagonal values."""
    def MatrixSetDiagV2(self, input: TensorLike, diagonal: TensorLike, k: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns a batched matrix tensor with new batched diagonal values."""
    def MatrixSetDiagV3(self, input: TensorLike, diagonal: TensorLike, k: TensorLike, /, *, T: DTypeLike | None = None, align: Literal['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'] | bytes = 'RIGHT_LEFT', name: str | None = None) -> Output:
        """Returns a batched matrix tensor with new batched diagonal values."""
    def MatrixSolve(self, matrix: TensorLike, rhs: TensorLike, /, *, adjoint: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Solves systems of linear equations."""
    def MatrixSolveLs(self, matrix: TensorLike, rhs: TensorLike, l2_regularizer: TensorLike, /, *, T: DTypeLike | None = None, fast: bool = True, name: str | None = None) -> Output:
        """Solves one or more linear least-squares problems."""
    def MatrixSquareRoot(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the matrix square root of one or more square matrices."""
    def MatrixTriangularSolve(self, matrix: TensorLike, rhs: TensorLike, /, *, lower: bool = True, adjoint: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Solves systems of linear equations with upper or lower triangular matrices by backsubstitution."""
    def Max(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the maximum of elements across dimensions of a tensor."""
    def MaxIntraOpParallelismDataset(self, input_dataset: OutputLike, max_intra_op_parallelism: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that overrides the maximum intra-op parallelism."""
    def MaxPool(self, input: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike = ..., explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] | bytes = 'NHWC', name: str | None = None) -> Output:
        """Performs max pooling on the input."""
    def MaxPool3D(self, input: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Performs 3D max pooling on the input."""
    def MaxPool3DGrad(self, orig_input: TensorLike, orig_output: TensorLike, grad: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', T: DTypeLike = ..., TInput: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes gradients of 3D max pooling function."""
    def MaxPool3DGradGrad(self, orig_input: TensorLike, orig_output: TensorLike, grad: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes second-order gradients of the maxpooling function."""
    def MaxPoolGrad(self, orig_input: TensorLike, orig_output: TensorLike, grad: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes gradients of the maxpooling function."""
    def MaxPoolGradGrad(self, orig_input: TensorLike, orig_output: TensorLike, grad: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes second-order gradients of the maxpooling function."""
    def MaxPoolGradGradV2(self, orig_input: TensorLike, orig_output: TensorLike, grad: TensorLike, ksize: TensorLike, strides: TensorLike, /, *, padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes second-order gradients of the maxpooling function."""
    def MaxPoolGradGradWithArgmax(self, input: TensorLike, grad: TensorLike, argmax: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, include_batch_in_index: bool = False, Targmax: DTypeLike | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes second-order gradients of the maxpooling function."""
    def MaxPoolGradV2(self, orig_input: TensorLike, orig_output: TensorLike, grad: TensorLike, ksize: TensorLike, strides: TensorLike, /, *, padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes gradients of the maxpooling function."""
    def MaxPoolGradWithArgmax(self, input: TensorLike, grad: TensorLike, argmax: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, include_batch_in_index: bool = False, Targmax: DTypeLike | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes gradients of the maxpooling function."""
    def MaxPoolV2(self, input: TensorLike, ksize: TensorLike, strides: TensorLike, /, *, padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike = ..., data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] | bytes = 'NHWC', name: str | None = None) -> Output:
        """Performs max pooling on the input."""
    def MaxPoolWithArgmax(self, input: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Targmax: DTypeLike = ..., include_batch_in_index: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Performs max pooling on the input and outputs both max values and indices."""
    def Maximum(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the max of x and y (i.e. x > y ? x : y) element-wise."""
    def Mean(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the mean of elements across dimensions of a tensor."""
    def Merge(self, inputs: Sequence[TensorLike], /, *, T: DTypeLike | None = None, N: int | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Forwards the value of an available tensor from `inputs` to `output`."""
    def MergeDedupData(self, integer_tensor: TensorLike, float_tensor: TensorLike, /, *, tuple_mask: str | bytes, integer_type: DTypeLike | None = None, float_type: DTypeLike | None = None, config: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type MergeDedupData and return the Output."""
    def MergeSummary(self, inputs: Sequence[TensorLike], /, *, N: int | None = None, name: str | None = None) -> Output:
        """Merges summaries."""
    def MergeV2Checkpoints(self, checkpoint_prefixes: TensorLike, destination_prefix: TensorLike, /, *, delete_old_dirs: bool = True, allow_missing_files: bool = False, name: str | None = None) -> Node:
        """V2 format specific: merges the metadata files of sharded checkpoints."""
    def Mfcc(self, spectrogram: TensorLike, sample_rate: TensorLike, /, *, upper_frequency_limit: float = 4000.0, lower_frequency_limit: float = 20.0, filterbank_channel_count: int = 40, dct_coefficient_count: int = 13, name: str | None = None) -> Output:
        """Transforms a spectrogram into a form that's useful for speech recognition."""
    def Min(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the minimum of elements across dimensions of a tensor."""
    def Minimum(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the min of x and y (i.e. x < y ? x : y) element-wise."""
    def MirrorPad(self, input: TensorLike, paddings: TensorLike, /, *, mode: Literal['REFLECT', 'SYMMETRIC'] | bytes, T: DTypeLike | None = None, Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """Pads a tensor with mirrored values."""
    def MirrorPadGrad(self, input: TensorLike, paddings: TensorLike, /, *, mode: Literal['REFLECT', 'SYMMETRIC'] | bytes, T: DTypeLike | None = None, Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """Gradient op for `MirrorPad` op."""
    def MixedStruct(self, *, n_a: int, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type MixedStruct and return a tuple of Outputs."""
    def MlirPassthroughOp(self, inputs: Sequence[TensorLike], /, *, mlir_module: str | bytes, Toutputs: Sequence[DTypeLike], Tinputs: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type MlirPassthroughOp and return a tuple of Outputs."""
    def Mod(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns element-wise remainder of division."""
    def ModelDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], algorithm: int = 0, cpu_budget: int = 0, ram_budget: int = 0, name: str | None = None) -> Output:
        """Identity transformation that models performance."""
    def Mul(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns x * y element-wise."""
    def MulNoNan(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns x * y element-wise."""
    def MultiDeviceIterator(self, *, devices: Sequence[str | bytes], shared_name: str | bytes, container: str | bytes, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a MultiDeviceIterator resource."""
    def MultiDeviceIteratorFromStringHandle(self, string_handle: TensorLike, /, *, output_types: Sequence[DTypeLike] = ..., output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> Output:
        """Generates a MultiDeviceIterator resource from its provided string handle."""
    def MultiDeviceIteratorGetNextFromShard(self, multi_device_iterator: OutputLike, shard_num: TensorLike, incarnation_id: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Gets next element for the provided shard number."""
    def MultiDeviceIteratorInit(self, dataset: OutputLike, multi_device_iterator: OutputLike, max_buffer_size: TensorLike, /, *, name: str | None = None) -> Output:
        """Initializes the multi device iterator with the given dataset."""
    def MultiDeviceIteratorToStringHandle(self, multi_device_iterator: OutputLike, /, *, name: str | None = None) -> Output:
        """Produces a string handle for the given MultiDeviceIterator."""
    def Multinomial(self, logits: TensorLike, num_samples: TensorLike, /, *, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, output_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Draws samples from a multinomial distribution."""
    def MutableDenseHashTable(self, empty_key: TensorLike, /, *, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, key_dtype: DTypeLike | None = None, value_shape: ShapeLike = ..., initial_num_buckets: int = 131072, max_load_factor: float = 0.800000011920929, name: str | None = None) -> Output:
        """Creates an empty hash table that uses tensors as the backing store."""
    def MutableDenseHashTableV2(self, empty_key: TensorLike, deleted_key: TensorLike, /, *, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, key_dtype: DTypeLike | None = None, value_shape: ShapeLike = ..., initial_num_buckets: int = 131072, max_load_factor: float = 0.800000011920929, name: str | None = None) -> Output:
        """Creates an empty hash table that uses tensors as the backing store."""
    def MutableHashTable(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, name: str | None = None) -> Output:
        """Creates an empty hash table."""
    def MutableHashTableOfTensors(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, value_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Creates an empty hash table."""
    def MutableHashTableOfTensorsV2(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, value_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Creates an empty hash table."""
    def MutableHashTableV2(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, name: str | None = None) -> Output:
        """Creates an empty hash table."""
    def MutexLock(self, mutex: OutputLike, /, *, name: str | None = None) -> Output:
        """Locks a mutex resource."""
    def MutexV2(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Creates a Mutex resource that can be locked by `MutexLock`."""
    def NInPolymorphicTwice(self, a: Sequence[TensorLike], b: Sequence[TensorLike], /, *, T: DTypeLike | None = None, N: int | None = None, name: str | None = None) -> Node:
        """Add a node of type NInPolymorphicTwice and return the Node."""
    def NInTwice(self, a: Sequence[TensorLike], b: Sequence[TensorLike], /, *, N: int | None = None, name: str | None = None) -> Node:
        """Add a node of type NInTwice and return the Node."""
    def NInTwoTypeVariables(self, a: Sequence[TensorLike], b: Sequence[TensorLike], /, *, S: DTypeLike | None = None, T: DTypeLike | None = None, N: int | None = None, name: str | None = None) -> Node:
        """Add a node of type NInTwoTypeVariables and return the Node."""
    def NIntsIn(self, a: Sequence[TensorLike], /, *, N: int | None = None, name: str | None = None) -> Node:
        """Add a node of type NIntsIn and return the Node."""
    def NIntsOut(self, *, N: int, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type NIntsOut and return a tuple of Outputs."""
    def NIntsOutDefault(self, *, N: int = 3, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type NIntsOutDefault and return a tuple of Outputs."""
    def NPolymorphicIn(self, a: Sequence[TensorLike], /, *, T: DTypeLike | None = None, N: int | None = None, name: str | None = None) -> Node:
        """Add a node of type NPolymorphicIn and return the Node."""
    def NPolymorphicOut(self, *, T: DTypeLike, N: int, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type NPolymorphicOut and return a tuple of Outputs."""
    def NPolymorphicOutDefault(self, *, T: DTypeLike = ..., N: int = 2, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type NPolymorphicOutDefault and return a tuple of Outputs."""
    def NPolymorphicRestrictIn(self, a: Sequence[TensorLike], /, *, T: DTypeLike | None = None, N: int | None = None, name: str | None = None) -> Node:
        """Add a node of type NPolymorphicRestrictIn and return the Node."""
    def NPolymorphicRestrictOut(self, *, T: DTypeLike, N: int, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type NPolymorphicRestrictOut and return a tuple of Outputs."""
    def NcclAllReduce(self, input: TensorLike, /, *, reduction: Literal['min', 'max', 'prod', 'sum'] | bytes, num_devices: int, shared_name: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Outputs a tensor containing the reduction across all input tensors."""
    def NcclBroadcast(self, input: TensorLike, /, *, shape: ShapeLike, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Sends `input` to all devices that are connected to the output."""
    def NcclReduce(self, input: Sequence[TensorLike], /, *, reduction: Literal['min', 'max', 'prod', 'sum'] | bytes, T: DTypeLike | None = None, num_devices: int | None = None, name: str | None = None) -> Output:
        """Reduces `input` from `num_devices` using `reduction` to a single device."""
    def Ndtri(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Ndtri and return the Output."""
    def NearestNeighbors(self, points: TensorLike, centers: TensorLike, k: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Selects the k nearest centers for each point."""
    def Neg(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes numerical negative value element-wise."""
    def NegTrain(self, w_in: OutputLike, w_out: OutputLike, examples: TensorLike, labels: TensorLike, lr: TensorLike, /, *, vocab_count: Sequence[int], num_negative_samples: int, name: str | None = None) -> Node:
        """Add a node of type NegTrain and return the Node."""
    def NextAfter(self, x1: TensorLike, x2: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns the next representable value of `x1` in the direction of `x2`, element-wise."""
    def NextIteration(self, data: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Makes its input available to the next iteration."""
    def NoOp(self, *, name: str | None = None) -> Node:
        """Does nothing."""
    def NonDeterministicInts(self, shape: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Non-deterministically generates some integers."""
    def NonMaxSuppression(self, boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, /, *, iou_threshold: float = 0.5, name: str | None = None) -> Output:
        """Greedily selects a subset of bounding boxes in descending order of score."""
    def NonMaxSuppressionV2(self, boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike, /, *, T: DTypeLike = ..., T_threshold: DTypeLike = ..., name: str | None = None) -> Output:
        """Greedily selects a subset of bounding boxes in descending order of score."""
    def NonMaxSuppressionV3(self, boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike, score_threshold: TensorLike, /, *, T: DTypeLike = ..., T_threshold: DTypeLike = ..., name: str | None = None) -> Output:
        """Greedily selects a subset of bounding boxes in descending order of score."""
    def NonMaxSuppressionV4(self, boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike, score_threshold: TensorLike, /, *, T: DTypeLike = ..., T_threshold: DTypeLike = ..., pad_to_max_output_size: bool = False, name: str | None = None) -> tuple[Output, Output]:
        """Greedily selects a subset of bounding boxes in descending order of score."""
    def NonMaxSuppressionV5(self, boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike, score_threshold: TensorLike, soft_nms_sigma: TensorLike, /, *, T: DTypeLike = ..., pad_to_max_output_size: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Greedily selects a subset of bounding boxes in descending order of score."""
    def NonMaxSuppressionWithOverlaps(self, overlaps: TensorLike, scores: TensorLike, max_output_size: TensorLike, overlap_threshold: TensorLike, score_threshold: TensorLike, /, *, name: str | None = None) -> Output:
        """Greedily selects a subset of bounding boxes in descending order of score."""
    def NonSerializableDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type NonSerializableDataset and return the Output."""
    def NotEqual(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, incompatible_shape_error: bool = True, name: str | None = None) -> Output:
        """Returns the truth value of (x != y) element-wise."""
    def NthElement(self, input: TensorLike, n: TensorLike, /, *, reverse: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Finds values of the `n`-th order statistic for the last dimension."""
    def Old(self, *, name: str | None = None) -> Node:
        """Add a node of type Old and return the Node."""
    def OneHot(self, indices: TensorLike, depth: TensorLike, on_value: TensorLike, off_value: TensorLike, /, *, axis: int = -1, T: DTypeLike | None = None, TI: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns a one-hot tensor."""
    def OneShotIterator(self, *, dataset_factory: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Makes a "one-shot" iterator that can be iterated only once."""
    def OnesLike(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns a tensor of ones with the same shape and type as x."""
    def OpWithDefaultAttr(self, *, default_float: float = 123.0, name: str | None = None) -> Output:
        """Add a node of type OpWithDefaultAttr and return the Output."""
    def OpWithFutureDefaultAttr(self, *, name: str | None = None) -> Node:
        """Add a node of type OpWithFutureDefaultAttr and return the Node."""
    def OptimizeDataset(self, input_dataset: OutputLike, optimizations: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], optimization_configs: Sequence[str | bytes] = ..., name: str | None = None) -> Output:
        """Creates a dataset by applying optimizations to `input_dataset`."""
    def OptimizeDatasetV2(self, input_dataset: OutputLike, optimizations_enabled: TensorLike, optimizations_disabled: TensorLike, optimizations_default: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], optimization_configs: Sequence[str | bytes] = ..., name: str | None = None) -> Output:
        """Creates a dataset by applying related optimizations to `input_dataset`."""
    def OptionalFromValue(self, components: Sequence[TensorLike], /, *, Toutput_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Constructs an Optional variant from a tuple of tensors."""
    def OptionalGetValue(self, optional: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Returns the value stored in an Optional variant or raises an error if none exists."""
    def OptionalHasValue(self, optional: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns true if and only if the given Optional variant has a value."""
    def OptionalNone(self, *, name: str | None = None) -> Output:
        """Creates an Optional variant with no value."""
    def OptionsDataset(self, input_dataset: OutputLike, /, *, serialized_options: str | bytes, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset by attaching tf.data.Options to `input_dataset`."""
    def OrderedMapClear(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Node:
        """Op removes all elements in the underlying container."""
    def OrderedMapIncompleteSize(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Op returns the number of incomplete elements in the underlying container."""
    def OrderedMapPeek(self, key: TensorLike, indices: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Op peeks at the values at the specified key."""
    def OrderedMapSize(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Op returns the number of elements in the underlying container."""
    def OrderedMapStage(self, key: TensorLike, indices: TensorLike, values: Sequence[TensorLike], /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, fake_dtypes: Sequence[DTypeLike] | None = None, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Node:
        """Stage (key, values) in the underlying container which behaves like a ordered."""
    def OrderedMapUnstage(self, key: TensorLike, indices: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Op removes and returns the values associated with the key."""
    def OrderedMapUnstageNoKey(self, indices: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Op removes and returns the (key, value) element with the smallest."""
    def OutT(self, *, T: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type OutT and return the Output."""
    def OutTypeList(self, *, T: Sequence[DTypeLike], name: str | None = None) -> OutputsOrNode:
        """Add a node of type OutTypeList and return a tuple of Outputs."""
    def OutTypeListRestrict(self, *, t: Sequence[DTypeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type OutTypeListRestrict and return a tuple of Outputs."""
    def OutfeedDequeue(self, *, dtype: DTypeLike, shape: ShapeLike, device_ordinal: int = -1, name: str | None = None) -> Output:
        """Retrieves a single tensor from the computation outfeed."""
    def OutfeedDequeueTuple(self, *, dtypes: Sequence[DTypeLike], shapes: Sequence[ShapeLike], device_ordinal: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Retrieve multiple values from the computation outfeed."""
    def OutfeedDequeueTupleV2(self, device_ordinal: TensorLike, /, *, dtypes: Sequence[DTypeLike], shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Retrieve multiple values from the computation outfeed."""
    def OutfeedDequeueV2(self, device_ordinal: TensorLike, /, *, dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Output:
        """Retrieves a single tensor from the computation outfeed."""
    def OutfeedEnqueue(self, input: TensorLike, /, *, dtype: DTypeLike | None = None, name: str | None = None) -> Node:
        """Enqueue a Tensor on the computation outfeed."""
    def OutfeedEnqueueTuple(self, inputs: Sequence[TensorLike], /, *, dtypes: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Enqueue multiple Tensor values on the computation outfeed."""
    def Pack(self, values: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, axis: int = 0, name: str | None = None) -> Output:
        """Packs a list of `N` rank-`R` tensors into one rank-`(R+1)` tensor."""
    def Pad(self, input: TensorLike, paddings: TensorLike, /, *, T: DTypeLike | None = None, Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """Pads a tensor with zeros."""
    def PadV2(self, input: TensorLike, paddings: TensorLike, constant_values: TensorLike, /, *, T: DTypeLike | None = None, Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """Pads a tensor."""
    def PaddedBatchDataset(self, input_dataset: OutputLike, batch_size: TensorLike, padded_shapes: Sequence[TensorLike], padding_values: Sequence[TensorLike], /, *, output_shapes: Sequence[ShapeLike], Toutput_types: Sequence[DTypeLike] | None = None, N: int | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that batches and pads `batch_size` elements from the input."""
    def PaddedBatchDatasetV2(self, input_dataset: OutputLike, batch_size: TensorLike, padded_shapes: Sequence[TensorLike], padding_values: Sequence[TensorLike], drop_remainder: TensorLike, /, *, output_shapes: Sequence[ShapeLike], parallel_copy: bool = False, Toutput_types: Sequence[DTypeLike] | None = None, N: int | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that batches and pads `batch_size` elements from the input."""
    def PaddingFIFOQueue(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A queue that produces elements in first-in first-out order."""
    def PaddingFIFOQueueV2(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A queue that produces elements in first-in first-out order."""
    def ParallelBatchDataset(self, input_dataset: OutputLike, batch_size: TensorLike, num_parallel_calls: TensorLike, drop_remainder: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], parallel_copy: bool = False, deterministic: str | bytes = 'default', metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ParallelBatchDataset and return the Output."""
    def ParallelConcat(self, values: Sequence[TensorLike], /, *, shape: ShapeLike, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Concatenates a list of `N` tensors along the first dimension."""
    def ParallelDynamicStitch(self, indices: Sequence[TensorLike], data: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Interleave the values from the `data` tensors into a single tensor."""
    def ParallelFilterDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], num_parallel_calls: TensorLike, /, *, predicate: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], deterministic: str | bytes = 'default', Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset containing elements of `input_dataset` matching `predicate`."""
    def ParallelInterleaveDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, sloppy: TensorLike, buffer_output_elements: TensorLike, prefetch_input_elements: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that applies `f` to the outputs of `input_dataset`."""
    def ParallelInterleaveDatasetV2(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, num_parallel_calls: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, sloppy: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that applies `f` to the outputs of `input_dataset`."""
    def ParallelInterleaveDatasetV3(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, num_parallel_calls: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], deterministic: str | bytes = 'default', Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that applies `f` to the outputs of `input_dataset`."""
    def ParallelInterleaveDatasetV4(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, buffer_output_elements: TensorLike, prefetch_input_elements: TensorLike, num_parallel_calls: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], deterministic: str | bytes = 'default', Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that applies `f` to the outputs of `input_dataset`."""
    def ParallelMapDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], num_parallel_calls: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, use_inter_op_parallelism: bool = True, sloppy: bool = False, preserve_cardinality: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that applies `f` to the outputs of `input_dataset`."""
    def ParallelMapDatasetV2(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], num_parallel_calls: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, use_inter_op_parallelism: bool = True, deterministic: str | bytes = 'default', preserve_cardinality: bool = False, use_unbounded_threadpool: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that applies `f` to the outputs of `input_dataset`."""
    def ParameterizedTruncatedNormal(self, shape: TensorLike, means: TensorLike, stdevs: TensorLike, minvals: TensorLike, maxvals: TensorLike, /, *, seed: int = 0, seed2: int = 0, dtype: DTypeLike | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Outputs random values from a normal distribution."""
    def ParseExample(self, serialized: TensorLike, names: TensorLike, sparse_keys: Sequence[TensorLike], dense_keys: Sequence[TensorLike], dense_defaults: Sequence[TensorLike], /, *, sparse_types: Sequence[DTypeLike], dense_shapes: Sequence[ShapeLike], Nsparse: int | None = None, Ndense: int | None = None, Tdense: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Transforms a vector of brain.Example protos (as strings) into typed tensors."""
    def ParseExampleDataset(self, input_dataset: OutputLike, num_parallel_calls: TensorLike, dense_defaults: Sequence[TensorLike], /, *, sparse_keys: Sequence[str | bytes], dense_keys: Sequence[str | bytes], sparse_types: Sequence[DTypeLike], dense_shapes: Sequence[ShapeLike], output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tdense: Sequence[DTypeLike] | None = None, sloppy: bool = False, ragged_keys: Sequence[str | bytes] = ..., ragged_value_types: Sequence[DTypeLike] = ..., ragged_split_types: Sequence[DTypeLike] = ..., name: str | None = None) -> Output:
        """Add a node of type ParseExampleDataset and return the Output."""
    def ParseExampleDatasetV2(self, input_dataset: OutputLike, num_parallel_calls: TensorLike, dense_defaults: Sequence[TensorLike], /, *, sparse_keys: Sequence[str | bytes], dense_keys: Sequence[str | bytes], sparse_types: Sequence[DTypeLike], dense_shapes: Sequence[ShapeLike], output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tdense: Sequence[DTypeLike] | None = None, deterministic: str | bytes = 'default', ragged_keys: Sequence[str | bytes] = ..., ragged_value_types: Sequence[DTypeLike] = ..., ragged_split_types: Sequence[DTypeLike] = ..., name: str | None = None) -> Output:
        """Add a node of type ParseExampleDatasetV2 and return the Output."""
    def ParseExampleV2(self, serialized: TensorLike, names: TensorLike, sparse_keys: TensorLike, dense_keys: TensorLike, ragged_keys: TensorLike, dense_defaults: Sequence[TensorLike], /, *, num_sparse: int, sparse_types: Sequence[DTypeLike], ragged_value_types: Sequence[DTypeLike], ragged_split_types: Sequence[DTypeLike], dense_shapes: Sequence[ShapeLike], Tdense: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Transforms a vector of tf.Example protos (as strings) into typed tensors."""
    def ParseSequenceExample(self, serialized: TensorLike, debug_name: TensorLike, context_dense_defaults: Sequence[TensorLike], /, *, feature_list_dense_missing_assumed_empty: Sequence[str | bytes], context_sparse_keys: Sequence[str | bytes], context_dense_keys: Sequence[str | bytes], feature_list_sparse_keys: Sequence[str | bytes], feature_list_dense_keys: Sequence[str | bytes], Ncontext_sparse: int = 0, Ncontext_dense: int = 0, Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, context_sparse_types: Sequence[DTypeLike] = ..., Tcontext_dense: Sequence[DTypeLike] = ..., feature_list_dense_types: Sequence[DTypeLike] = ..., context_dense_shapes: Sequence[ShapeLike] = ..., feature_list_sparse_types: Sequence[DTypeLike] = ..., feature_list_dense_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """Transforms a vector of brain.SequenceExample protos (as strings) into typed tensors."""
    def ParseSequenceExampleV2(self, serialized: TensorLike, debug_name: TensorLike, context_sparse_keys: TensorLike, context_dense_keys: TensorLike, context_ragged_keys: TensorLike, feature_list_sparse_keys: TensorLike, feature_list_dense_keys: TensorLike, feature_list_ragged_keys: TensorLike, feature_list_dense_missing_assumed_empty: TensorLike, context_dense_defaults: Sequence[TensorLike], /, *, Ncontext_sparse: int = 0, Tcontext_dense: Sequence[DTypeLike] = ..., context_sparse_types: Sequence[DTypeLike] = ..., context_ragged_value_types: Sequence[DTypeLike] = ..., context_ragged_split_types: Sequence[DTypeLike] = ..., context_dense_shapes: Sequence[ShapeLike] = ..., Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, feature_list_dense_types: Sequence[DTypeLike] = ..., feature_list_sparse_types: Sequence[DTypeLike] = ..., feature_list_ragged_value_types: Sequence[DTypeLike] = ..., feature_list_ragged_split_types: Sequence[DTypeLike] = ..., feature_list_dense_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """Transforms a vector of tf.io.SequenceExample protos (as strings) into typed tensors."""
    def ParseSingleExample(self, serialized: TensorLike, dense_defaults: Sequence[TensorLike], /, *, num_sparse: int, sparse_keys: Sequence[str | bytes], dense_keys: Sequence[str | bytes], sparse_types: Sequence[DTypeLike], dense_shapes: Sequence[ShapeLike], Tdense: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Transforms a tf.Example proto (as a string) into typed tensors."""
    def ParseSingleSequenceExample(self, serialized: TensorLike, feature_list_dense_missing_assumed_empty: TensorLike, context_sparse_keys: Sequence[TensorLike], context_dense_keys: Sequence[TensorLike], feature_list_sparse_keys: Sequence[TensorLike], feature_list_dense_keys: Sequence[TensorLike], context_dense_defaults: Sequence[TensorLike], debug_name: TensorLike, /, *, Ncontext_sparse: int = 0, Ncontext_dense: int = 0, Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, context_sparse_types: Sequence[DTypeLike] = ..., Tcontext_dense: Sequence[DTypeLike] = ..., feature_list_dense_types: Sequence[DTypeLike] = ..., context_dense_shapes: Sequence[ShapeLike] = ..., feature_list_sparse_types: Sequence[DTypeLike] = ..., feature_list_dense_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """Transforms a scalar brain.SequenceExample proto (as strings) into typed tensors."""
    def ParseTensor(self, serialized: TensorLike, /, *, out_type: DTypeLike, name: str | None = None) -> Output:
        """Transforms a serialized tensorflow.TensorProto proto into a Tensor."""
    def PartitionedCall(self, args: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], f: FuncRef | str, Tin: Sequence[DTypeLike] | None = None, config: str | bytes = '', config_proto: str | bytes = '', executor_type: str | bytes = '', name: str | None = None) -> OutputsOrNode:
        """Returns `f(inputs)`, where `f`'s body is placed and partitioned."""
    def Placeholder(self, *, dtype: DTypeLike, shape: ShapeLike = ..., name: str | None = None) -> Output:
        """A placeholder op for a value that will be fed into the computation."""
    def PlaceholderV2(self, *, dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Output:
        """A placeholder op for a value that will be fed into the computation."""
    def PlaceholderWithDefault(self, input: TensorLike, /, *, shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """A placeholder op that passes through `input` when its output is not fed."""
    def Polygamma(self, a: TensorLike, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Compute the polygamma function \\\\(\\psi^{(n)}(x)\\\\)."""
    def Polymorphic(self, a: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Polymorphic and return the Output."""
    def PolymorphicDefaultOut(self, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type PolymorphicDefaultOut and return the Output."""
    def PolymorphicOut(self, *, T: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type PolymorphicOut and return the Output."""
    def PopulationCount(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes element-wise population count (a.k.a. popcount, bitsum, bitcount)."""
    def Pow(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the power of one value to another."""
    def PrefetchDataset(self, input_dataset: OutputLike, buffer_size: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], slack_period: int = 0, legacy_autotune: bool = True, buffer_size_min: int = 0, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that asynchronously prefetches elements from `input_dataset`."""
    def Prelinearize(self, input: TensorLike, /, *, dtype: DTypeLike | None = None, shape: ShapeLike = ..., layout: Sequence[int] = ..., name: str | None = None) -> Output:
        """An op which linearizes one Tensor value to an opaque variant tensor."""
    def PrelinearizeTuple(self, inputs: Sequence[TensorLike], /, *, shapes: Sequence[ShapeLike], dtypes: Sequence[DTypeLike] | None = None, layouts: Sequence[int] = ..., name: str | None = None) -> Output:
        """An op which linearizes multiple Tensor values to an opaque variant tensor."""
    def PreventGradient(self, input: TensorLike, /, *, T: DTypeLike | None = None, message: str | bytes = '', name: str | None = None) -> Output:
        """An identity op that triggers an error if a gradient is requested."""
    def Print(self, input: TensorLike, data: Sequence[TensorLike], /, *, T: DTypeLike | None = None, U: Sequence[DTypeLike] | None = None, message: str | bytes = '', first_n: int = -1, summarize: int = 3, name: str | None = None) -> Output:
        """Prints a list of tensors."""
    def PrintV2(self, input: TensorLike, /, *, output_stream: str | bytes = 'stderr', end: str | bytes = '\n', name: str | None = None) -> Node:
        """Prints a string scalar."""
    def PriorityQueue(self, *, shapes: Sequence[ShapeLike], component_types: Sequence[DTypeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A queue that produces elements sorted by the first component value."""
    def PriorityQueueV2(self, *, shapes: Sequence[ShapeLike], component_types: Sequence[DTypeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A queue that produces elements sorted by the first component value."""
    def PrivateThreadPoolDataset(self, input_dataset: OutputLike, num_threads: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that uses a custom thread pool to compute `input_dataset`."""
    def Prod(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the product of elements across dimensions of a tensor."""
    def PyFunc(self, input: Sequence[TensorLike], /, *, token: str | bytes, Tout: Sequence[DTypeLike], Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Invokes a python function to compute func(input)->output."""
    def PyFuncStateless(self, input: Sequence[TensorLike], /, *, token: str | bytes, Tout: Sequence[DTypeLike], Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """A stateless version of PyFunc."""
    def Qr(self, input: TensorLike, /, *, full_matrices: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Computes the QR decompositions of one or more matrices."""
    def QuantizeAndDequantize(self, input: TensorLike, /, *, signed_input: bool = True, num_bits: int = 8, range_given: bool = False, input_min: float = 0.0, input_max: float = 0.0, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Use QuantizeAndDequantizeV2 instead."""
    def QuantizeAndDequantizeV2(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, signed_input: bool = True, num_bits: int = 8, range_given: bool = False, T: DTypeLike | None = None, round_mode: Literal['HALF_TO_EVEN', 'HALF_UP'] | bytes = 'HALF_TO_EVEN', narrow_range: bool = False, axis: int = -1, name: str | None = None) -> Output:
        """Quantizes then dequantizes a tensor."""
    def QuantizeAndDequantizeV3(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, num_bits: TensorLike, /, *, signed_input: bool = True, range_given: bool = True, T: DTypeLike | None = None, narrow_range: bool = False, axis: int = -1, name: str | None = None) -> Output:
        """Quantizes then dequantizes a tensor."""
    def QuantizeAndDequantizeV4(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, signed_input: bool = True, num_bits: int = 8, range_given: bool = False, T: DTypeLike | None = None, round_mode: Literal['HALF_TO_EVEN', 'HALF_UP'] | bytes = 'HALF_TO_EVEN', narrow_range: bool = False, axis: int = -1, name: str | None = None) -> Output:
        """Quantizes then dequantizes a tensor."""
    def QuantizeAndDequantizeV4Grad(self, gradients: TensorLike, input: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, T: DTypeLike | None = None, axis: int = -1, name: str | None = None) -> tuple[Output, Output, Output]:
        """Returns the gradient of `QuantizeAndDequantizeV4`."""
    def QuantizeDownAndShrinkRange(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, out_type: DTypeLike, Tinput: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Convert the quantized 'input' tensor into a lower-precision 'output', using the."""
    def QuantizeV2(self, input: TensorLike, min_range: TensorLike, max_range: TensorLike, /, *, T: DTypeLike, mode: Literal['MIN_COMBINED', 'MIN_FIRST', 'SCALED'] | bytes = 'MIN_COMBINED', round_mode: Literal['HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'] | bytes = 'HALF_AWAY_FROM_ZERO', narrow_range: bool = False, axis: int = -1, ensure_minimum_range: float = 0.009999999776482582, name: str | None = None) -> tuple[Output, Output, Output]:
        """Quantize the 'input' tensor of type float to 'output' tensor of type 'T'."""
    def QuantizedAdd(self, x: TensorLike, y: TensorLike, min_x: TensorLike, max_x: TensorLike, min_y: TensorLike, max_y: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Toutput: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Returns x + y element-wise, working on quantized buffers."""
    def QuantizedAvgPool(self, input: TensorLike, min_input: TensorLike, max_input: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Produces the average pool of the input tensor for quantized types."""
    def QuantizedBatchNormWithGlobalNormalization(self, t: TensorLike, t_min: TensorLike, t_max: TensorLike, m: TensorLike, m_min: TensorLike, m_max: TensorLike, v: TensorLike, v_min: TensorLike, v_max: TensorLike, beta: TensorLike, beta_min: TensorLike, beta_max: TensorLike, gamma: TensorLike, gamma_min: TensorLike, gamma_max: TensorLike, /, *, out_type: DTypeLike, variance_epsilon: float, scale_after_normalization: bool, Tinput: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Quantized Batch normalization."""
    def QuantizedBiasAdd(self, input: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_bias: TensorLike, max_bias: TensorLike, /, *, out_type: DTypeLike, T1: DTypeLike | None = None, T2: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Adds Tensor 'bias' to Tensor 'input' for Quantized types."""
    def QuantizedConcat(self, concat_dim: TensorLike, values: Sequence[TensorLike], input_mins: Sequence[TensorLike], input_maxes: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Concatenates quantized tensors along one dimension."""
    def QuantizedConcatV2(self, values: Sequence[TensorLike], axis: TensorLike, input_mins: Sequence[TensorLike], input_maxes: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConcatV2 and return a tuple of Outputs."""
    def QuantizedConv2D(self, input: TensorLike, filter: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes a 2D convolution given quantized 4D input and filter tensors."""
    def QuantizedConv2DAndRelu(self, input: TensorLike, filter: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DAndRelu and return a tuple of Outputs."""
    def QuantizedConv2DAndReluAndRequantize(self, input: TensorLike, filter: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DAndReluAndRequantize and return a tuple of Outputs."""
    def QuantizedConv2DAndRequantize(self, input: TensorLike, filter: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DAndRequantize and return a tuple of Outputs."""
    def QuantizedConv2DPerChannel(self, input: TensorLike, filter: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes QuantizedConv2D per channel."""
    def QuantizedConv2DWithBias(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DWithBias and return a tuple of Outputs."""
    def QuantizedConv2DWithBiasAndRelu(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DWithBiasAndRelu and return a tuple of Outputs."""
    def QuantizedConv2DWithBiasAndReluAndRequantize(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, Tbias: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DWithBiasAndReluAndRequantize and return a tuple of Outputs."""
    def QuantizedConv2DWithBiasAndRequantize(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, Tbias: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DWithBiasAndRequantize and return a tuple of Outputs."""
    def QuantizedConv2DWithBiasSignedSumAndReluAndRequantize(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, summand: TensorLike, min_summand: TensorLike, max_summand: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, Tbias: DTypeLike | None = None, Tsummand: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DWithBiasSignedSumAndReluAndRequantize and return a tuple of Outputs."""
    def QuantizedConv2DWithBiasSumAndRelu(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, summand: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DWithBiasSumAndRelu and return a tuple of Outputs."""
    def QuantizedConv2DWithBiasSumAndReluAndRequantize(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, summand: TensorLike, min_summand: TensorLike, max_summand: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, Tbias: DTypeLike | None = None, Tsummand: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DWithBiasSumAndReluAndRequantize and return a tuple of Outputs."""
    def QuantizedDepthwiseConv2D(self, input: TensorLike, filter: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes quantized depthwise Conv2D."""
    def QuantizedDepthwiseConv2DWithBias(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes quantized depthwise Conv2D with Bias."""
    def QuantizedDepthwiseConv2DWithBiasAndRelu(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes quantized depthwise Conv2D with Bias and Relu."""
    def QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, Tbias: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes quantized depthwise Conv2D with Bias, Relu and Requantize."""
    def QuantizedInstanceNorm(self, x: TensorLike, x_min: TensorLike, x_max: TensorLike, /, *, T: DTypeLike | None = None, output_range_given: bool = False, given_y_min: float = 0.0, given_y_max: float = 0.0, variance_epsilon: float = 9.999999747378752e-06, min_separation: float = 0.0010000000474974513, name: str | None = None) -> tuple[Output, Output, Output]:
        """Quantized Instance normalization."""
    def QuantizedMatMul(self, a: TensorLike, b: TensorLike, min_a: TensorLike, max_a: TensorLike, min_b: TensorLike, max_b: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Toutput: DTypeLike = ..., transpose_a: bool = False, transpose_b: bool = False, Tactivation: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Perform a quantized matrix multiplication of `a` by the matrix `b`."""
    def QuantizedMatMulWithBias(self, a: TensorLike, b: TensorLike, bias: TensorLike, min_a: TensorLike, max_a: TensorLike, min_b: TensorLike, max_b: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Tbias: DTypeLike | None = None, Toutput: DTypeLike = ..., transpose_a: bool = False, transpose_b: bool = False, input_quant_mode: Literal['MIN_FIRST', 'SCALED'] | bytes = 'MIN_FIRST', name: str | None = None) -> tuple[Output, Output, Output]:
        """Performs a quantized matrix multiplication of `a` by the matrix `b` with bias add."""
    def QuantizedMatMulWithBiasAndDequantize(self, a: TensorLike, b: TensorLike, bias: TensorLike, min_a: TensorLike, max_a: TensorLike, min_b: TensorLike, max_b: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, Toutput: DTypeLike, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Tbias: DTypeLike | None = None, transpose_a: bool = False, transpose_b: bool = False, input_quant_mode: Literal['MIN_FIRST', 'SCALED'] | bytes = 'MIN_FIRST', name: str | None = None) -> Output:
        """Add a node of type QuantizedMatMulWithBiasAndDequantize and return the Output."""
    def QuantizedMatMulWithBiasAndRelu(self, a: TensorLike, b: TensorLike, bias: TensorLike, min_a: TensorLike, max_a: TensorLike, min_b: TensorLike, max_b: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Toutput: DTypeLike = ..., transpose_a: bool = False, transpose_b: bool = False, input_quant_mode: Literal['MIN_FIRST', 'SCALED'] | bytes = 'MIN_FIRST', name: str | None = None) -> tuple[Output, Output, Output]:
        """Perform a quantized matrix multiplication of `a` by the matrix `b` with bias add and relu fusion."""
    def QuantizedMatMulWithBiasAndReluAndRequantize(self, a: TensorLike, b: TensorLike, bias: TensorLike, min_a: TensorLike, max_a: TensorLike, min_b: TensorLike, max_b: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Tbias: DTypeLike | None = None, Toutput: DTypeLike = ..., transpose_a: bool = False, transpose_b: bool = False, input_quant_mode: Literal['MIN_FIRST', 'SCALED'] | bytes = 'MIN_FIRST', name: str | None = None) -> tuple[Output, Output, Output]:
        """Perform a quantized matrix multiplication of `a` by the matrix `b` with bias add and relu and requantize fusion."""
    def QuantizedMatMulWithBiasAndRequantize(self, a: TensorLike, b: TensorLike, bias: TensorLike, min_a: TensorLike, max_a: TensorLike, min_b: TensorLike, max_b: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Tbias: DTypeLike | None = None, Toutput: DTypeLike = ..., transpose_a: bool = False, transpose_b: bool = False, input_quant_mode: Literal['MIN_FIRST', 'SCALED'] | bytes = 'MIN_FIRST', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedMatMulWithBiasAndRequantize and return a tuple of Outputs."""
    def QuantizedMaxPool(self, input: TensorLike, min_input: TensorLike, max_input: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Produces the max pool of the input tensor for quantized types."""
    def QuantizedMul(self, x: TensorLike, y: TensorLike, min_x: TensorLike, max_x: TensorLike, min_y: TensorLike, max_y: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Toutput: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Returns x * y element-wise, working on quantized buffers."""
    def QuantizedRelu(self, features: TensorLike, min_features: TensorLike, max_features: TensorLike, /, *, Tinput: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes Quantized Rectified Linear: `max(features, 0)`."""
    def QuantizedRelu6(self, features: TensorLike, min_features: TensorLike, max_features: TensorLike, /, *, Tinput: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes Quantized Rectified Linear 6: `min(max(features, 0), 6)`."""
    def QuantizedReluX(self, features: TensorLike, max_value: TensorLike, min_features: TensorLike, max_features: TensorLike, /, *, Tinput: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes Quantized Rectified Linear X: `min(max(features, 0), max_value)`."""
    def QuantizedReshape(self, tensor: TensorLike, shape: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, T: DTypeLike | None = None, Tshape: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Reshapes a quantized tensor as per the Reshape op."""
    def QuantizedResizeBilinear(self, images: TensorLike, size: TensorLike, min: TensorLike, max: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Resize quantized `images` to `size` using quantized bilinear interpolation."""
    def QueueClose(self, handle: OutputLike, /, *, cancel_pending_enqueues: bool = False, name: str | None = None) -> Node:
        """Closes the given queue."""
    def QueueCloseV2(self, handle: OutputLike, /, *, cancel_pending_enqueues: bool = False, name: str | None = None) -> Node:
        """Closes the given queue."""
    def QueueDequeue(self, handle: OutputLike, /, *, component_types: Sequence[DTypeLike], timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Dequeues a tuple of one or more tensors from the given queue."""
    def QueueDequeueMany(self, handle: OutputLike, n: TensorLike, /, *, component_types: Sequence[DTypeLike], timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Dequeues `n` tuples of one or more tensors from the given queue."""
    def QueueDequeueManyV2(self, handle: OutputLike, n: TensorLike, /, *, component_types: Sequence[DTypeLike], timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Dequeues `n` tuples of one or more tensors from the given queue."""
    def QueueDequeueUpTo(self, handle: OutputLike, n: TensorLike, /, *, component_types: Sequence[DTypeLike], timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Dequeues `n` tuples of one or more tensors from the given queue."""
    def QueueDequeueUpToV2(self, handle: OutputLike, n: TensorLike, /, *, component_types: Sequence[DTypeLike], timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Dequeues `n` tuples of one or more tensors from the given queue."""
    def QueueDequeueV2(self, handle: OutputLike, /, *, component_types: Sequence[DTypeLike], timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Dequeues a tuple of one or more tensors from the given queue."""
    def QueueEnqueue(self, handle: OutputLike, components: Sequence[TensorLike], /, *, Tcomponents: Sequence[DTypeLike] | None = None, timeout_ms: int = -1, name: str | None = None) -> Node:
        """Enqueues a tuple of one or more tensors in the given queue."""
    def QueueEnqueueMany(self, handle: OutputLike, components: Sequence[TensorLike], /, *, Tcomponents: Sequence[DTypeLike] | None = None, timeout_ms: int = -1, name: str | None = None) -> Node:
        """Enqueues zero or more tuples of one or more tensors in the given queue."""
    def QueueEnqueueManyV2(self, handle: OutputLike, components: Sequence[TensorLike], /, *, Tcomponents: Sequence[DTypeLike] | None = None, timeout_ms: int = -1, name: str | None = None) -> Node:
        """Enqueues zero or more tuples of one or more tensors in the given queue."""
    def QueueEnqueueV2(self, handle: OutputLike, components: Sequence[TensorLike], /, *, Tcomponents: Sequence[DTypeLike] | None = None, timeout_ms: int = -1, name: str | None = None) -> Node:
        """Enqueues a tuple of one or more tensors in the given queue."""
    def QueueIsClosed(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns true if queue is closed."""
    def QueueIsClosedV2(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns true if queue is closed."""
    def QueueSize(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Computes the number of elements in the given queue."""
    def QueueSizeV2(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Computes the number of elements in the given queue."""
    def RFFT(self, input: TensorLike, fft_length: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Real-valued fast Fourier transform."""
    def RFFT2D(self, input: TensorLike, fft_length: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """2D real-valued fast Fourier transform."""
    def RFFT3D(self, input: TensorLike, fft_length: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """3D real-valued fast Fourier transform."""
    def RFFTND(self, input: TensorLike, fft_length: TensorLike, axes: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """ND fast real Fourier transform."""
    def RGBToHSV(self, images: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Converts one or more images from RGB to HSV."""
    def RaggedBincount(self, splits: TensorLike, values: TensorLike, size: TensorLike, weights: TensorLike, /, *, Tidx: DTypeLike | None = None, T: DTypeLike | None = None, binary_output: bool = False, name: str | None = None) -> Output:
        """Counts the number of occurrences of each value in an integer array."""
    def RaggedCountSparseOutput(self, splits: TensorLike, values: TensorLike, weights: TensorLike, /, *, binary_output: bool, T: DTypeLike | None = None, minlength: int = -1, maxlength: int = -1, output_type: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Performs sparse-output bin counting for a ragged tensor input."""
    def RaggedCross(self, ragged_values: Sequence[TensorLike], ragged_row_splits: Sequence[TensorLike], sparse_indices: Sequence[TensorLike], sparse_values: Sequence[TensorLike], sparse_shape: Sequence[TensorLike], dense_inputs: Sequence[TensorLike], /, *, input_order: str | bytes, hashed_output: bool, num_buckets: int, hash_key: int, out_values_type: DTypeLike, out_row_splits_type: DTypeLike, Nsparse: int | None = None, ragged_values_types: Sequence[DTypeLike] | None = None, ragged_splits_types: Sequence[DTypeLike] | None = None, sparse_values_types: Sequence[DTypeLike] | None = None, dense_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Generates a feature cross from a list of tensors, and returns it as a RaggedTensor."""
    def RaggedFillEmptyRows(self, value_rowids: TensorLike, values: TensorLike, nrows: TensorLike, default_value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type RaggedFillEmptyRows and return a tuple of Outputs."""
    def RaggedFillEmptyRowsGrad(self, reverse_index_map: TensorLike, grad_values: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RaggedFillEmptyRowsGrad and return a tuple of Outputs."""
    def RaggedGather(self, params_nested_splits: Sequence[TensorLike], params_dense_values: TensorLike, indices: TensorLike, /, *, OUTPUT_RAGGED_RANK: int, Tvalues: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tsplits: DTypeLike = ..., PARAMS_RAGGED_RANK: int | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Gather ragged slices from `params` axis `0` according to `indices`."""
    def RaggedRange(self, starts: TensorLike, limits: TensorLike, deltas: TensorLike, /, *, T: DTypeLike = ..., Tsplits: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Returns a `RaggedTensor` containing the specified sequences of numbers."""
    def RaggedTensorFromVariant(self, encoded_ragged: OutputLike, /, *, input_ragged_rank: int, output_ragged_rank: int, Tvalues: DTypeLike, Tsplits: DTypeLike = ..., name: str | None = None) -> tuple[Output, ...]:
        """Decodes a `variant` Tensor into a `RaggedTensor`."""
    def RaggedTensorToSparse(self, rt_nested_splits: Sequence[TensorLike], rt_dense_values: TensorLike, /, *, RAGGED_RANK: int | None = None, T: DTypeLike | None = None, Tsplits: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Converts a `RaggedTensor` into a `SparseTensor` with the same values."""
    def RaggedTensorToTensor(self, shape: TensorLike, values: TensorLike, default_value: TensorLike, row_partition_tensors: Sequence[TensorLike], /, *, row_partition_types: Sequence[str | bytes], T: DTypeLike | None = None, Tindex: DTypeLike | None = None, Tshape: DTypeLike | None = None, num_row_partition_tensors: int | None = None, name: str | None = None) -> Output:
        """Create a dense tensor from a ragged tensor, possibly altering its shape."""
    def RaggedTensorToVariant(self, rt_nested_splits: Sequence[TensorLike], rt_dense_values: TensorLike, /, *, batched_input: bool, RAGGED_RANK: int | None = None, Tvalues: DTypeLike | None = None, Tsplits: DTypeLike = ..., name: str | None = None) -> Output:
        """Encodes a `RaggedTensor` into a `variant` Tensor."""
    def RaggedTensorToVariantGradient(self, encoded_ragged_grad: OutputLike, row_splits: TensorLike, dense_values_shape: TensorLike, /, *, Tvalues: DTypeLike, Tsplits: DTypeLike = ..., name: str | None = None) -> Output:
        """Helper used to compute the gradient for `RaggedTensorToVariant`."""
    def RandomCrop(self, image: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, seed: int = 0, seed2: int = 0, name: str | None = None) -> Output:
        """Randomly crop `image`."""
    def RandomDataset(self, seed: TensorLike, seed2: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a Dataset that returns pseudorandom numbers."""
    def RandomDatasetV2(self, seed: TensorLike, seed2: TensorLike, seed_generator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], rerandomize_each_iteration: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a Dataset that returns pseudorandom numbers."""
    def RandomGamma(self, shape: TensorLike, alpha: TensorLike, /, *, seed: int = 0, seed2: int = 0, S: DTypeLike | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Outputs random values from the Gamma distribution(s) described by alpha."""
    def RandomGammaGrad(self, alpha: TensorLike, sample: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the derivative of a Gamma random sample w.r.t. `alpha`."""
    def RandomIndexShuffle(self, index: TensorLike, seed: TensorLike, max_index: TensorLike, /, *, rounds: int = 4, dtype: DTypeLike | None = None, Tseed: DTypeLike | None = None, name: str | None = None) -> Output:
        """Outputs the position of `value` in a permutation of [0, ..., max_index]."""
    def RandomPoisson(self, shape: TensorLike, rate: TensorLike, /, *, seed: int = 0, seed2: int = 0, S: DTypeLike | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Use RandomPoissonV2 instead."""
    def RandomPoissonV2(self, shape: TensorLike, rate: TensorLike, /, *, seed: int = 0, seed2: int = 0, S: DTypeLike | None = None, R: DTypeLike = ..., dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs random values from the Poisson distribution(s) described by rate."""
    def RandomShuffle(self, value: TensorLike, /, *, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Randomly shuffles a tensor along its first dimension."""
    def RandomShuffleQueue(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, min_after_dequeue: int = 0, seed: int = 0, seed2: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A queue that randomizes the order of elements."""
    def RandomShuffleQueueV2(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, min_after_dequeue: int = 0, seed: int = 0, seed2: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A queue that randomizes the order of elements."""
    def RandomStandardNormal(self, shape: TensorLike, /, *, dtype: DTypeLike, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Outputs random values from a normal distribution."""
    def RandomUniform(self, shape: TensorLike, /, *, dtype: DTypeLike, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Outputs random values from a uniform distribution."""
    def RandomUniformInt(self, shape: TensorLike, minval: TensorLike, maxval: TensorLike, /, *, seed: int = 0, seed2: int = 0, Tout: DTypeLike | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Outputs random integers from a uniform distribution."""
    def Range(self, start: TensorLike, limit: TensorLike, delta: TensorLike, /, *, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Creates a sequence of numbers."""
    def RangeDataset(self, start: TensorLike, stop: TensorLike, step: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', replicate_on_split: bool = False, name: str | None = None) -> Output:
        """Creates a dataset with a range of values."""
    def Rank(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the rank of a tensor."""
    def ReadFile(self, filename: TensorLike, /, *, name: str | None = None) -> Output:
        """Reads and outputs the entire contents of the input filename."""
    def ReadVariableOp(self, resource: OutputLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Reads the value of a variable."""
    def ReadVariableXlaSplitND(self, resource: OutputLike, /, *, T: DTypeLike, N: int, num_splits: Sequence[int], paddings: Sequence[int] = ..., name: str | None = None) -> tuple[Output, ...]:
        """Splits resource variable input tensor across all dimensions."""
    def ReaderNumRecordsProduced(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the number of records this Reader has produced."""
    def ReaderNumRecordsProducedV2(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the number of records this Reader has produced."""
    def ReaderNumWorkUnitsCompleted(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the number of work units this Reader has finished processing."""
    def ReaderNumWorkUnitsCompletedV2(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the number of work units this Reader has finished processing."""
    def ReaderRead(self, reader_handle: OutputLike, queue_handle: OutputLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Returns the next record (key, value pair) produced by a Reader."""
    def ReaderReadUpTo(self, reader_handle: OutputLike, queue_handle: OutputLike, num_records: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Returns up to `num_records` (key, value) pairs produced by a Reader."""
    def ReaderReadUpToV2(self, reader_handle: OutputLike, queue_handle: OutputLike, num_records: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Returns up to `num_records` (key, value) pairs produced by a Reader."""
    def ReaderReadV2(self, reader_handle: OutputLike, queue_handle: OutputLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Returns the next record (key, value pair) produced by a Reader."""
    def ReaderReset(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Node:
        """Restore a Reader to its initial clean state."""
    def ReaderResetV2(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Node:
        """Restore a Reader to its initial clean state."""
    def ReaderRestoreState(self, reader_handle: OutputLike, state: TensorLike, /, *, name: str | None = None) -> Node:
        """Restore a reader to a previously saved state."""
    def ReaderRestoreStateV2(self, reader_handle: OutputLike, state: TensorLike, /, *, name: str | None = None) -> Node:
        """Restore a reader to a previously saved state."""
    def ReaderSerializeState(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Produce a string tensor that encodes the state of a Reader."""
    def ReaderSerializeStateV2(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Produce a string tensor that encodes the state of a Reader."""
    def Real(self, input: TensorLike, /, *, T: DTypeLike = ..., Tout: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns the real part of a complex number."""
    def RealDiv(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns x / y element-wise for real types."""
    def RebatchDataset(self, input_dataset: OutputLike, num_replicas: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], use_fallback: bool = True, name: str | None = None) -> Output:
        """Creates a dataset that changes the batch size."""
    def RebatchDatasetV2(self, input_dataset: OutputLike, batch_sizes: TensorLike, drop_remainder: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that changes the batch size."""
    def Reciprocal(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the reciprocal of x element-wise."""
    def ReciprocalGrad(self, y: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the gradient for the inverse of `x` wrt its input."""
    def RecordInput(self, *, file_pattern: str | bytes, file_random_seed: int = 301, file_shuffle_shift_ratio: float = 0.0, file_buffer_size: int = 10000, file_parallelism: int = 16, batch_size: int = 32, compression_type: str | bytes = '', name: str | None = None) -> Output:
        """Emits randomized records."""
    def Recv(self, *, tensor_type: DTypeLike, tensor_name: str | bytes, send_device: str | bytes, send_device_incarnation: int, recv_device: str | bytes, client_terminated: bool = False, name: str | None = None) -> Output:
        """Receives the named tensor from send_device on recv_device."""
    def RecvTPUEmbeddingActivations(self, *, num_outputs: int, config: str | bytes, name: str | None = None) -> tuple[Output, ...]:
        """An op that receives embedding activations on the TPU."""
    def ReduceDataset(self, input_dataset: OutputLike, initial_state: Sequence[TensorLike], other_arguments: Sequence[TensorLike], /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tstate: Sequence[DTypeLike] | None = None, Targuments: Sequence[DTypeLike] | None = None, use_inter_op_parallelism: bool = True, metadata: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Reduces the input dataset to a singleton using a reduce function."""
    def ReduceJoin(self, inputs: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, separator: str | bytes = '', name: str | None = None) -> Output:
        """Joins a string Tensor across the given dimensions."""
    def RefEnter(self, data: OutputLike, /, *, frame_name: str | bytes, T: DTypeLike | None = None, is_constant: bool = False, parallel_iterations: int = 10, name: str | None = None) -> Output:
        """Creates or finds a child frame, and makes `data` available to the child frame."""
    def RefExit(self, data: OutputLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Exits the current frame to its parent frame."""
    def RefIdentity(self, input: OutputLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Return the same ref tensor as the input ref tensor."""
    def RefIn(self, a: OutputLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type RefIn and return the Node."""
    def RefInputFloatInput(self, a: OutputLike, b: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type RefInputFloatInput and return the Node."""
    def RefInputFloatInputIntOutput(self, a: OutputLike, b: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type RefInputFloatInputIntOutput and return the Output."""
    def RefInputIntInput(self, a: OutputLike, b: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type RefInputIntInput and return the Node."""
    def RefMerge(self, inputs: Sequence[OutputLike], /, *, T: DTypeLike | None = None, N: int | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Forwards the value of an available tensor from `inputs` to `output`."""
    def RefNextIteration(self, data: OutputLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Makes its input available to the next iteration."""
    def RefOut(self, *, T: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type RefOut and return the Output."""
    def RefOutput(self, *, name: str | None = None) -> Output:
        """Add a node of type RefOutput and return the Output."""
    def RefOutputFloatOutput(self, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RefOutputFloatOutput and return a tuple of Outputs."""
    def RefSelect(self, index: TensorLike, inputs: Sequence[OutputLike], /, *, T: DTypeLike | None = None, N: int | None = None, name: str | None = None) -> Output:
        """Forwards the `index`th element of `inputs` to `output`."""
    def RefSwitch(self, data: OutputLike, pred: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Forwards the ref tensor `data` to the output port determined by `pred`."""
    def RegexFullMatch(self, input: TensorLike, pattern: TensorLike, /, *, name: str | None = None) -> Output:
        """Check if the input matches the regex pattern."""
    def RegexReplace(self, input: TensorLike, pattern: TensorLike, rewrite: TensorLike, /, *, replace_global: bool = True, name: str | None = None) -> Output:
        """Replaces matches of the `pattern` regular expression in `input` with the replacement string provided in `rewrite`."""
    def RegisterDataset(self, dataset: OutputLike, address: TensorLike, protocol: TensorLike, /, *, external_state_policy: int, element_spec: str | bytes = '', metadata: str | bytes = '', name: str | None = None) -> Output:
        """Registers a dataset with the tf.data service."""
    def RegisterDatasetV2(self, dataset: OutputLike, address: TensorLike, protocol: TensorLike, /, *, external_state_policy: int, element_spec: str | bytes = '', requested_dataset_id: str | bytes = '', metadata: str | bytes = '', name: str | None = None) -> Output:
        """Registers a dataset with the tf.data service."""
    def Relayout(self, input: TensorLike, /, *, layout: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Relayout and return the Output."""
    def RelayoutLike(self, input: TensorLike, layout_input: TensorLike, /, *, T: DTypeLike | None = None, U: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RelayoutLike and return the Output."""
    def Relu(self, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes rectified linear: `max(features, 0)`."""
    def Relu6(self, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes rectified linear 6: `min(max(features, 0), 6)`."""
    def Relu6Grad(self, gradients: TensorLike, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes rectified linear 6 gradients for a Relu6 operation."""
    def ReluGrad(self, gradients: TensorLike, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes rectified linear gradients for a Relu operation."""
    def RemoteCall(self, target: TensorLike, args: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], f: FuncRef | str, Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Runs function `f` on a remote device indicated by `target`."""
    def RepeatDataset(self, input_dataset: OutputLike, count: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that emits the outputs of `input_dataset` `count` times."""
    def RequantizationRange(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, Tinput: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Computes a range that covers the actual values present in a quantized tensor."""
    def RequantizationRangePerChannel(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, clip_value_max: float, T: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Computes requantization range per channel."""
    def Requantize(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, requested_output_min: TensorLike, requested_output_max: TensorLike, /, *, out_type: DTypeLike, Tinput: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Converts the quantized `input` tensor into a lower-precision `output`."""
    def RequantizePerChannel(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, requested_output_min: TensorLike, requested_output_max: TensorLike, /, *, T: DTypeLike = ..., out_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Requantizes input with min and max values known per channel."""
    def RequiresOlderGraphVersion(self, *, name: str | None = None) -> Output:
        """Add a node of type RequiresOlderGraphVersion and return the Output."""
    def ReservedAttr(self, *, range: int, name: str | None = None) -> Node:
        """Add a node of type ReservedAttr and return the Node."""
    def ReservedInput(self, input: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ReservedInput and return the Node."""
    def Reshape(self, tensor: TensorLike, shape: TensorLike, /, *, T: DTypeLike | None = None, Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Reshapes a tensor."""
    def ResizeArea(self, images: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, name: str | None = None) -> Output:
        """Resize `images` to `size` using area interpolation."""
    def ResizeBicubic(self, images: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Output:
        """Resize `images` to `size` using bicubic interpolation."""
    def ResizeBicubicGrad(self, grads: TensorLike, original_image: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Output:
        """Computes the gradient of bicubic interpolation."""
    def ResizeBilinear(self, images: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Output:
        """Resize `images` to `size` using bilinear interpolation."""
    def ResizeBilinearGrad(self, grads: TensorLike, original_image: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Output:
        """Computes the gradient of bilinear interpolation."""
    def ResizeNearestNeighbor(self, images: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Output:
        """Resize `images` to `size` using nearest neighbor interpolation."""
    def ResizeNearestNeighborGrad(self, grads: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Output:
        """Computes the gradient of nearest neighbor interpolation."""
    def ResourceAccumulatorApplyGradient(self, handle: OutputLike, local_step: TensorLike, gradient: TensorLike, /, *, dtype: DTypeLike | None = None, name: str | None = None) -> Node:
        """Applies a gradient to a given accumulator."""
    def ResourceAccumulatorNumAccumulated(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the number of gradients aggregated in the given accumulators."""
    def ResourceAccumulatorSetGlobalStep(self, handle: OutputLike, new_global_step: TensorLike, /, *, name: str | None = None) -> Node:
        """Updates the accumulator with a new value for global_step."""
    def ResourceAccumulatorTakeGradient(self, handle: OutputLike, num_required: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Extracts the average gradient in the given ConditionalAccumulator."""
    def ResourceApplyAdaMax(self, var: OutputLike, m: OutputLike, v: OutputLike, beta1_power: TensorLike, lr: TensorLike, beta1: TensorLike, beta2: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the AdaMax algorithm."""
    def ResourceApplyAdadelta(self, var: OutputLike, accum: OutputLike, accum_update: OutputLike, lr: TensorLike, rho: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the adadelta scheme."""
    def ResourceApplyAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Node:
        """Update '*var' according to the adagrad scheme."""
    def ResourceApplyAdagradDA(self, var: OutputLike, gradient_accumulator: OutputLike, gradient_squared_accumulator: OutputLike, grad: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, global_step: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the proximal adagrad scheme."""
    def ResourceApplyAdagradV2(self, var: OutputLike, accum: OutputLike, lr: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Node:
        """Update '*var' according to the adagrad scheme."""
    def ResourceApplyAdam(self, var: OutputLike, m: OutputLike, v: OutputLike, beta1_power: TensorLike, beta2_power: TensorLike, lr: TensorLike, beta1: TensorLike, beta2: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the Adam algorithm."""
    def ResourceApplyAdamWithAmsgrad(self, var: OutputLike, m: OutputLike, v: OutputLike, vhat: OutputLike, beta1_power: TensorLike, beta2_power: TensorLike, lr: TensorLike, beta1: TensorLike, beta2: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the Adam algorithm."""
    def ResourceApplyAddSign(self, var: OutputLike, m: OutputLike, lr: TensorLike, alpha: TensorLike, sign_decay: TensorLike, beta: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the AddSign update."""
    def ResourceApplyCenteredRMSProp(self, var: OutputLike, mg: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the centered RMSProp algorithm."""
    def ResourceApplyFtrl(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the Ftrl-proximal scheme."""
    def ResourceApplyFtrlV2(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, l2_shrinkage: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the Ftrl-proximal scheme."""
    def ResourceApplyGradientDescent(self, var: OutputLike, alpha: TensorLike, delta: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' by subtracting 'alpha' * 'delta' from it."""
    def ResourceApplyKerasMomentum(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, momentum: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the momentum scheme."""
    def ResourceApplyMomentum(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, momentum: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the momentum scheme."""
    def ResourceApplyPowerSign(self, var: OutputLike, m: OutputLike, lr: TensorLike, logbase: TensorLike, sign_decay: TensorLike, beta: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the AddSign update."""
    def ResourceApplyProximalAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' and '*accum' according to FOBOS with Adagrad learning rate."""
    def ResourceApplyProximalGradientDescent(self, var: OutputLike, alpha: TensorLike, l1: TensorLike, l2: TensorLike, delta: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' as FOBOS algorithm with fixed learning rate."""
    def ResourceApplyRMSProp(self, var: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the RMSProp algorithm."""
    def ResourceConditionalAccumulator(self, *, dtype: DTypeLike, shape: ShapeLike, container: str | bytes = '', shared_name: str | bytes = '', reduction_type: Literal['MEAN', 'SUM'] | bytes = 'MEAN', name: str | None = None) -> Output:
        """A conditional accumulator for aggregating gradients."""
    def ResourceCountUpTo(self, resource: OutputLike, /, *, limit: int, T: DTypeLike, name: str | None = None) -> Output:
        """Increments variable pointed to by 'resource' until it reaches 'limit'."""
    def ResourceCreateOp(self, resource: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ResourceCreateOp and return the Node."""
    def ResourceGather(self, resource: OutputLike, indices: TensorLike, /, *, dtype: DTypeLike, batch_dims: int = 0, validate_indices: bool = True, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Gather slices from the variable pointed to by `resource` according to `indices`."""
    def ResourceGatherNd(self, resource: OutputLike, indices: TensorLike, /, *, dtype: DTypeLike, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ResourceGatherNd and return the Output."""
    def ResourceInitializedOp(self, resource: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ResourceInitializedOp and return the Output."""
    def ResourceScatterAdd(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Adds sparse updates to the variable referenced by `resource`."""
    def ResourceScatterDiv(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Divides sparse updates into the variable referenced by `resource`."""
    def ResourceScatterMax(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Reduces sparse updates into the variable referenced by `resource` using the `max` operation."""
    def ResourceScatterMin(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Reduces sparse updates into the variable referenced by `resource` using the `min` operation."""
    def ResourceScatterMul(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Multiplies sparse updates into the variable referenced by `resource`."""
    def ResourceScatterNdAdd(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, bad_indices_policy: str | bytes = '', name: str | None = None) -> Node:
        """Applies sparse addition to individual values or slices in a Variable."""
    def ResourceScatterNdMax(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, bad_indices_policy: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type ResourceScatterNdMax and return the Node."""
    def ResourceScatterNdMin(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, bad_indices_policy: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type ResourceScatterNdMin and return the Node."""
    def ResourceScatterNdSub(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, bad_indices_policy: str | bytes = '', name: str | None = None) -> Node:
        """Applies sparse subtraction to individual values or slices in a Variable."""
    def ResourceScatterNdUpdate(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, bad_indices_policy: str | bytes = '', name: str | None = None) -> Node:
        """Applies sparse `updates` to individual values or slices within a given."""
    def ResourceScatterSub(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Subtracts sparse updates from the variable referenced by `resource`."""
    def ResourceScatterUpdate(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Assigns sparse updates to the variable referenced by `resource`."""
    def ResourceSparseApplyAdadelta(self, var: OutputLike, accum: OutputLike, accum_update: OutputLike, lr: TensorLike, rho: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Var: Should be from a Variable()."""
    def ResourceSparseApplyAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Node:
        """Update relevant entries in '*var' and '*accum' according to the adagrad scheme."""
    def ResourceSparseApplyAdagradDA(self, var: OutputLike, gradient_accumulator: OutputLike, gradient_squared_accumulator: OutputLike, grad: TensorLike, indices: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, global_step: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update entries in '*var' and '*accum' according to the proximal adagrad scheme."""
    def ResourceSparseApplyAdagradV2(self, var: OutputLike, accum: OutputLike, lr: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Node:
        """Update relevant entries in '*var' and '*accum' according to the adagrad scheme."""
    def ResourceSparseApplyCenteredRMSProp(self, var: OutputLike, mg: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the centered RMSProp algorithm."""
    def ResourceSparseApplyFtrl(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, indices: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Node:
        """Update relevant entries in '*var' according to the Ftrl-proximal scheme."""
    def ResourceSparseApplyFtrlV2(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, indices: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, l2_shrinkage: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Node:
        """Update relevant entries in '*var' according to the Ftrl-proximal scheme."""
    def ResourceSparseApplyKerasMomentum(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, indices: TensorLike, momentum: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Node:
        """Update relevant entries in '*var' and '*accum' according to the momentum scheme."""
    def ResourceSparseApplyMomentum(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, indices: TensorLike, momentum: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Node:
        """Update relevant entries in '*var' and '*accum' according to the momentum scheme."""
    def ResourceSparseApplyProximalAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Sparse update entries in '*var' and '*accum' according to FOBOS algorithm."""
    def ResourceSparseApplyProximalGradientDescent(self, var: OutputLike, alpha: TensorLike, l1: TensorLike, l2: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Sparse update '*var' as FOBOS algorithm with fixed learning rate."""
    def ResourceSparseApplyRMSProp(self, var: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Update '*var' according to the RMSProp algorithm."""
    def ResourceStridedSliceAssign(self, ref: OutputLike, begin: TensorLike, end: TensorLike, strides: TensorLike, value: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Node:
        """Assign `value` to the sliced l-value reference of `ref`."""
    def ResourceUsingOp(self, resource: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ResourceUsingOp and return the Node."""
    def Restore(self, file_pattern: TensorLike, tensor_name: TensorLike, /, *, dt: DTypeLike, preferred_shard: int = -1, name: str | None = None) -> Output:
        """Restores a tensor from checkpoint files."""
    def RestoreSlice(self, file_pattern: TensorLike, tensor_name: TensorLike, shape_and_slice: TensorLike, /, *, dt: DTypeLike, preferred_shard: int = -1, name: str | None = None) -> Output:
        """Restores a tensor from checkpoint files."""
    def RestoreV2(self, prefix: TensorLike, tensor_names: TensorLike, shape_and_slices: TensorLike, /, *, dtypes: Sequence[DTypeLike], name: str | None = None) -> tuple[Output, ...]:
        """Restores tensors from a V2 checkpoint."""
    def Restrict(self, a: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Restrict and return the Output."""
    def RetrieveAllTPUEmbeddingParameters(self, *, NumTables: int, config: str | bytes, num_shards: int, shard_id: int, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type RetrieveAllTPUEmbeddingParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingADAMParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Retrieve ADAM embedding parameters."""
    def RetrieveTPUEmbeddingAdadeltaParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Retrieve Adadelta embedding parameters."""
    def RetrieveTPUEmbeddingAdagradMomentumParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Retrieve Adagrad Momentum embedding parameters."""
    def RetrieveTPUEmbeddingAdagradParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output]:
        """Retrieve Adagrad embedding parameters."""
    def RetrieveTPUEmbeddingCenteredRMSPropParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Retrieve centered RMSProp embedding parameters."""
    def RetrieveTPUEmbeddingFTRLParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Retrieve FTRL embedding parameters."""
    def RetrieveTPUEmbeddingFrequencyEstimatorParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output]:
        """Retrieve frequency estimator embedding parameters."""
    def RetrieveTPUEmbeddingMDLAdagradLightParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Retrieve MDL Adagrad Light embedding parameters."""
    def RetrieveTPUEmbeddingMomentumParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output]:
        """Retrieve Momentum embedding parameters."""
    def RetrieveTPUEmbeddingProximalAdagradParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output]:
        """Retrieve proximal Adagrad embedding parameters."""
    def RetrieveTPUEmbeddingProximalYogiParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingProximalYogiParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingRMSPropParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Retrieve RMSProp embedding parameters."""
    def RetrieveTPUEmbeddingStochasticGradientDescentParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Output:
        """Retrieve SGD embedding parameters."""
    def Reverse(self, tensor: TensorLike, dims: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Reverses specific dimensions of a tensor."""
    def ReverseSequence(self, input: TensorLike, seq_lengths: TensorLike, /, *, seq_dim: int, batch_dim: int = 0, T: DTypeLike | None = None, Tlen: DTypeLike = ..., name: str | None = None) -> Output:
        """Reverses variable length slices."""
    def ReverseV2(self, tensor: TensorLike, axis: TensorLike, /, *, Tidx: DTypeLike = ..., T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Reverses specific dimensions of a tensor."""
    def RewriteDataset(self, input_dataset: OutputLike, rewrite_name: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type RewriteDataset and return the Output."""
    def RightShift(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Elementwise computes the bitwise right-shift of `x` and `y`."""
    def Rint(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns element-wise integer closest to x."""
    def RiscAbs(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscAbs and return the Output."""
    def RiscAdd(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscAdd and return the Output."""
    def RiscBinaryArithmetic(self, x: TensorLike, y: TensorLike, /, *, op_type: Literal['ADD', 'SUB', 'MUL', 'DIV', 'REM', 'MIN', 'POW'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscBinaryArithmetic and return the Output."""
    def RiscBinaryComparison(self, x: TensorLike, y: TensorLike, /, *, op_type: Literal['EQ', 'NE', 'GE', 'GT', 'LE', 'LT'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscBinaryComparison and return the Output."""
    def RiscBitcast(self, x: TensorLike, /, *, DstT: DTypeLike, SrcT: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscBitcast and return the Output."""
    def RiscBroadcast(self, input: TensorLike, shape: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RiscBroadcast and return the Output."""
    def RiscCast(self, x: TensorLike, /, *, DstT: DTypeLike, SrcT: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscCast and return the Output."""
    def RiscCeil(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscCeil and return the Output."""
    def RiscCholesky(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscCholesky and return the Output."""
    def RiscConcat(self, values: Sequence[TensorLike], axis: TensorLike, /, *, N: int | None = None, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RiscConcat and return the Output."""
    def RiscCondition(self, pred: TensorLike, input_true: TensorLike, input_false: TensorLike, /, *, func_true: FuncRef | str, func_false: FuncRef | str, DstT: DTypeLike, SrcT: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscCondition and return the Output."""
    def RiscConv(self, input: TensorLike, filter: TensorLike, /, *, strides: Sequence[int], T: DTypeLike | None = None, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type RiscConv and return the Output."""
    def RiscCos(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscCos and return the Output."""
    def RiscDiv(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscDiv and return the Output."""
    def RiscDot(self, a: TensorLike, b: TensorLike, /, *, transpose_a: bool = False, transpose_b: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscDot and return the Output."""
    def RiscExp(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscExp and return the Output."""
    def RiscFft(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RiscFft and return the Output."""
    def RiscFloor(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscFloor and return the Output."""
    def RiscGather(self, params: TensorLike, indices: TensorLike, axis: TensorLike, /, *, batch_dims: int = 0, Tparams: DTypeLike | None = None, Tindices: DTypeLike | None = None, Taxis: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscGather and return the Output."""
    def RiscImag(self, input: TensorLike, /, *, T: DTypeLike = ..., Tout: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RiscImag and return the Output."""
    def RiscIsFinite(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscIsFinite and return the Output."""
    def RiscLog(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscLog and return the Output."""
    def RiscLogicalAnd(self, x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type RiscLogicalAnd and return the Output."""
    def RiscLogicalNot(self, x: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type RiscLogicalNot and return the Output."""
    def RiscLogicalOr(self, x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type RiscLogicalOr and return the Output."""
    def RiscMax(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscMax and return the Output."""
    def RiscMin(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscMin and return the Output."""
    def RiscMul(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscMul and return the Output."""
    def RiscNeg(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscNeg and return the Output."""
    def RiscPad(self, input: TensorLike, paddings: TensorLike, constant_values: TensorLike, /, *, T: DTypeLike | None = None, Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RiscPad and return the Output."""
    def RiscPool(self, value: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], pooling_type: Literal['AVG', 'MAX'] | bytes, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscPool and return the Output."""
    def RiscPow(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscPow and return the Output."""
    def RiscRandomUniform(self, shape: TensorLike, /, *, seed: int = 0, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscRandomUniform and return the Output."""
    def RiscReal(self, input: TensorLike, /, *, T: DTypeLike = ..., Tout: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RiscReal and return the Output."""
    def RiscReduce(self, tensor: TensorLike, axis: TensorLike, /, *, reduce_type: Literal['MEAN', 'SUM'] | bytes, Index: DTypeLike = ..., T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscReduce and return the Output."""
    def RiscRem(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscRem and return the Output."""
    def RiscReshape(self, tensor: TensorLike, shape: TensorLike, /, *, T: DTypeLike | None = None, Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RiscReshape and return the Output."""
    def RiscReverse(self, tensor: TensorLike, axis: TensorLike, /, *, Tidx: DTypeLike = ..., T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscReverse and return the Output."""
    def RiscScatter(self, indices: TensorLike, updates: TensorLike, shape: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscScatter and return the Output."""
    def RiscShape(self, input: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RiscShape and return the Output."""
    def RiscSign(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscSign and return the Output."""
    def RiscSlice(self, input: TensorLike, begin: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscSlice and return the Output."""
    def RiscSort(self, input: TensorLike, axis: TensorLike, /, *, direction: Literal['ASCENDING', 'DESCENDING'] | bytes, Index: DTypeLike = ..., T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscSort and return the Output."""
    def RiscSqueeze(self, input: TensorLike, /, *, T: DTypeLike | None = None, squeeze_dims: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type RiscSqueeze and return the Output."""
    def RiscSub(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscSub and return the Output."""
    def RiscTranspose(self, x: TensorLike, perm: TensorLike, /, *, T: DTypeLike | None = None, Tperm: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RiscTranspose and return the Output."""
    def RiscTriangularSolve(self, matrix: TensorLike, rhs: TensorLike, /, *, lower: bool = True, adjoint: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscTriangularSolve and return the Output."""
    def RiscUnary(self, x: TensorLike, /, *, op_type: Literal['ABL', 'CEIL', 'COS', 'EXP', 'FLOOR', 'IMAG', 'LOG', 'NEG', 'REAL', 'SIGN'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RiscUnary and return the Output."""
    def RiscWhile(self, input: Sequence[TensorLike], /, *, cond: FuncRef | str, body: FuncRef | str, T: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., parallel_iterations: int = 10, name: str | None = None) -> OutputsOrNode:
        """Add a node of type RiscWhile and return a tuple of Outputs."""
    def RngReadAndSkip(self, resource: OutputLike, alg: TensorLike, delta: TensorLike, /, *, name: str | None = None) -> Output:
        """Advance the counter of a counter-based RNG."""
    def RngSkip(self, resource: OutputLike, algorithm: TensorLike, delta: TensorLike, /, *, name: str | None = None) -> Node:
        """Advance the counter of a counter-based RNG."""
    def Roll(self, input: TensorLike, shift: TensorLike, axis: TensorLike, /, *, T: DTypeLike | None = None, Tshift: DTypeLike | None = None, Taxis: DTypeLike | None = None, name: str | None = None) -> Output:
        """Rolls the elements of a tensor along an axis."""
    def Round(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Rounds the values of a tensor to the nearest integer, element-wise."""
    def RpcCall(self, client: OutputLike, method_name: TensorLike, args: Sequence[TensorLike], timeout_in_ms: TensorLike, /, *, Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RpcCall and return a tuple of Outputs."""
    def RpcCheckStatus(self, status_or: OutputLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RpcCheckStatus and return a tuple of Outputs."""
    def RpcClient(self, server_address: TensorLike, timeout_in_ms: TensorLike, /, *, shared_name: str | bytes = '', list_registered_methods: bool = False, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RpcClient and return a tuple of Outputs."""
    def RpcGetValue(self, status_or: OutputLike, /, *, Tout: Sequence[DTypeLike], name: str | None = None) -> OutputsOrNode:
        """Add a node of type RpcGetValue and return a tuple of Outputs."""
    def RpcServer(self, server_address: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type RpcServer and return the Output."""
    def RpcServerRegister(self, server: OutputLike, method_name: TensorLike, captured_inputs: Sequence[TensorLike], /, *, f: FuncRef | str, output_specs: str | bytes, Tin: Sequence[DTypeLike] = ..., input_specs: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type RpcServerRegister and return the Node."""
    def RpcServerStart(self, server: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type RpcServerStart and return the Node."""
    def Rsqrt(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes reciprocal of square root of x element-wise."""
    def RsqrtGrad(self, y: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the gradient for the rsqrt of `x` wrt its input."""
    def SampleDistortedBoundingBox(self, image_size: TensorLike, bounding_boxes: TensorLike, /, *, T: DTypeLike | None = None, seed: int = 0, seed2: int = 0, min_object_covered: float = 0.10000000149011612, aspect_ratio_range: Sequence[float] = ..., area_range: Sequence[float] = ..., max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Generate a single randomly distorted bounding box for an image."""
    def SampleDistortedBoundingBoxV2(self, image_size: TensorLike, bounding_boxes: TensorLike, min_object_covered: TensorLike, /, *, T: DTypeLike | None = None, seed: int = 0, seed2: int = 0, aspect_ratio_range: Sequence[float] = ..., area_range: Sequence[float] = ..., max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Generate a single randomly distorted bounding box for an image."""
    def SamplingDataset(self, input_dataset: OutputLike, rate: TensorLike, seed: TensorLike, seed2: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that takes a Bernoulli sample of the contents of another dataset."""
    def Save(self, filename: TensorLike, tensor_names: TensorLike, data: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Saves the input tensors to disk."""
    def SaveDataset(self, input_dataset: OutputLike, path: TensorLike, shard_func_other_args: Sequence[TensorLike], /, *, shard_func: FuncRef | str, compression: str | bytes = '', use_shard_func: bool = True, Tshard_func_args: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Add a node of type SaveDataset and return the Node."""
    def SaveDatasetV2(self, input_dataset: OutputLike, path: TensorLike, shard_func_other_args: Sequence[TensorLike], /, *, shard_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], compression: str | bytes = '', use_shard_func: bool = True, Tshard_func_args: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type SaveDatasetV2 and return the Output."""
    def SaveSlices(self, filename: TensorLike, tensor_names: TensorLike, shapes_and_slices: TensorLike, data: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Saves input tensors slices to disk."""
    def SaveV2(self, prefix: TensorLike, tensor_names: TensorLike, shape_and_slices: TensorLike, tensors: Sequence[TensorLike], /, *, dtypes: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Saves tensors in V2 checkpoint format."""
    def ScalarSummary(self, tags: TensorLike, values: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Outputs a `Summary` protocol buffer with scalar values."""
    def ScaleAndTranslate(self, images: TensorLike, size: TensorLike, scale: TensorLike, translation: TensorLike, /, *, T: DTypeLike | None = None, kernel_type: str | bytes = 'lanczos3', antialias: bool = True, name: str | None = None) -> Output:
        """Add a node of type ScaleAndTranslate and return the Output."""
    def ScaleAndTranslateGrad(self, grads: TensorLike, original_image: TensorLike, scale: TensorLike, translation: TensorLike, /, *, T: DTypeLike | None = None, kernel_type: str | bytes = 'lanczos3', antialias: bool = True, name: str | None = None) -> Output:
        """Add a node of type ScaleAndTranslateGrad and return the Output."""
    def ScanDataset(self, input_dataset: OutputLike, initial_state: Sequence[TensorLike], other_arguments: Sequence[TensorLike], /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tstate: Sequence[DTypeLike] | None = None, Targuments: Sequence[DTypeLike] | None = None, preserve_cardinality: bool = False, use_default_device: bool = True, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset successively reduces `f` over the elements of `input_dataset`."""
    def ScatterAdd(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Adds sparse updates to a variable reference."""
    def ScatterDiv(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Divides a variable reference by sparse updates."""
    def ScatterMax(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Reduces sparse updates into a variable reference using the `max` operation."""
    def ScatterMin(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Reduces sparse updates into a variable reference using the `min` operation."""
    def ScatterMul(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Multiplies sparse updates into a variable reference."""
    def ScatterNd(self, indices: TensorLike, updates: TensorLike, shape: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Scatters `updates` into a tensor of shape `shape` according to `indices`."""
    def ScatterNdAdd(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Applies sparse addition to individual values or slices in a Variable."""
    def ScatterNdMax(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Computes element-wise maximum."""
    def ScatterNdMin(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Computes element-wise minimum."""
    def ScatterNdNonAliasingAdd(self, input: TensorLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Applies sparse addition to `input` using individual values or slices."""
    def ScatterNdSub(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Applies sparse subtraction to individual values or slices in a Variable."""
    def ScatterNdUpdate(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Applies sparse `updates` to individual values or slices within a given."""
    def ScatterSub(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Subtracts sparse updates to a variable reference."""
    def ScatterUpdate(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, name: str | None = None) -> Output:
        """Applies sparse updates to a variable reference."""
    def SdcaFprint(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Computes fingerprints of the input strings."""
    def SdcaOptimizer(self, sparse_example_indices: Sequence[TensorLike], sparse_feature_indices: Sequence[TensorLike], sparse_feature_values: Sequence[TensorLike], dense_features: Sequence[TensorLike], example_weights: TensorLike, example_labels: TensorLike, sparse_indices: Sequence[TensorLike], sparse_weights: Sequence[TensorLike], dense_weights: Sequence[TensorLike], example_state_data: TensorLike, /, *, loss_type: Literal['logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss', 'poisson_loss'] | bytes, l1: float, l2: float, num_loss_partitions: int, num_inner_iterations: int, adaptative: bool = False, num_sparse_features: int | None = None, num_sparse_features_with_values: int | None = None, num_dense_features: int | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Distributed version of Stochastic Dual Coordinate Ascent (SDCA) optimizer for."""
    def SdcaOptimizerV2(self, sparse_example_indices: Sequence[TensorLike], sparse_feature_indices: Sequence[TensorLike], sparse_feature_values: Sequence[TensorLike], dense_features: Sequence[TensorLike], example_weights: TensorLike, example_labels: TensorLike, sparse_indices: Sequence[TensorLike], sparse_weights: Sequence[TensorLike], dense_weights: Sequence[TensorLike], example_state_data: TensorLike, /, *, loss_type: Literal['logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss', 'poisson_loss'] | bytes, l1: float, l2: float, num_loss_partitions: int, num_inner_iterations: int, adaptive: bool = False, num_sparse_features: int | None = None, num_sparse_features_with_values: int | None = None, num_dense_features: int | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Distributed version of Stochastic Dual Coordinate Ascent (SDCA) optimizer for."""
    def SdcaShrinkL1(self, weights: Sequence[OutputLike], /, *, l1: float, l2: float, num_features: int | None = None, name: str | None = None) -> Node:
        """Applies L1 regularization shrink step on the parameters."""
    def SegmentMax(self, data: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the maximum along segments of a tensor."""
    def SegmentMaxV2(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the maximum along segments of a tensor."""
    def SegmentMean(self, data: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the mean along segments of a tensor."""
    def SegmentMin(self, data: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the minimum along segments of a tensor."""
    def SegmentMinV2(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the minimum along segments of a tensor."""
    def SegmentProd(self, data: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the product along segments of a tensor."""
    def SegmentProdV2(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the product along segments of a tensor."""
    def SegmentSum(self, data: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the sum along segments of a tensor."""
    def SegmentSumV2(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the sum along segments of a tensor."""
    def Select(self, condition: TensorLike, t: TensorLike, e: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Selects elements from `x` or `y`, depending on `condition`."""
    def SelectV2(self, condition: TensorLike, t: TensorLike, e: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SelectV2 and return the Output."""
    def SelfAdjointEig(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the Eigen Decomposition of a batch of square self-adjoint matrices."""
    def SelfAdjointEigV2(self, input: TensorLike, /, *, compute_v: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Computes the eigen decomposition of one or more square self-adjoint matrices."""
    def Selu(self, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes scaled exponential linear: `scale * alpha * (exp(features) - 1)`."""
    def SeluGrad(self, gradients: TensorLike, outputs: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes gradients for the scaled exponential linear (Selu) operation."""
    def Send(self, tensor: TensorLike, /, *, tensor_name: str | bytes, send_device: str | bytes, send_device_incarnation: int, recv_device: str | bytes, T: DTypeLike | None = None, client_terminated: bool = False, name: str | None = None) -> Node:
        """Sends the named tensor from send_device to recv_device."""
    def SendTPUEmbeddingGradients(self, inputs: Sequence[TensorLike], learning_rates: Sequence[TensorLike], /, *, config: str | bytes, N: int | None = None, NN: int = 0, name: str | None = None) -> Node:
        """Performs gradient updates of embedding tables."""
    def SerializeIterator(self, resource_handle: OutputLike, /, *, external_state_policy: int = 0, name: str | None = None) -> Output:
        """Converts the given `resource_handle` representing an iterator to a variant tensor."""
    def SerializeManySparse(self, sparse_indices: TensorLike, sparse_values: TensorLike, sparse_shape: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Serialize an `N`-minibatch `SparseTensor` into an `[N, 3]` `Tensor` object."""
    def SerializeSparse(self, sparse_indices: TensorLike, sparse_values: TensorLike, sparse_shape: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Serialize a `SparseTensor` into a `[3]` `Tensor` object."""
    def SerializeTensor(self, tensor: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Transforms a Tensor into a serialized TensorProto proto."""
    def SetSize(self, set_indices: TensorLike, set_values: TensorLike, set_shape: TensorLike, /, *, validate_indices: bool = True, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Number of unique elements along last dimension of input `set`."""
    def SetStatsAggregatorDataset(self, input_dataset: OutputLike, stats_aggregator: OutputLike, tag: TensorLike, counter_prefix: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type SetStatsAggregatorDataset and return the Output."""
    def Shape(self, input: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns the shape of a tensor."""
    def ShapeN(self, input: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, ...]:
        """Returns shape of tensors."""
    def ShardDataset(self, input_dataset: OutputLike, num_shards: TensorLike, index: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], require_non_empty: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a `Dataset` that includes only 1/`num_shards` of this dataset."""
    def ShardedFilename(self, basename: TensorLike, shard: TensorLike, num_shards: TensorLike, /, *, name: str | None = None) -> Output:
        """Generate a sharded filename."""
    def ShardedFilespec(self, basename: TensorLike, num_shards: TensorLike, /, *, name: str | None = None) -> Output:
        """Generate a glob pattern matching all sharded file names."""
    def ShuffleAndRepeatDataset(self, input_dataset: OutputLike, buffer_size: TensorLike, seed: TensorLike, seed2: TensorLike, count: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reshuffle_each_iteration: bool = True, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that shuffles and repeats elements from `input_dataset`."""
    def ShuffleAndRepeatDatasetV2(self, input_dataset: OutputLike, buffer_size: TensorLike, seed: TensorLike, seed2: TensorLike, count: TensorLike, seed_generator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reshuffle_each_iteration: bool = True, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ShuffleAndRepeatDatasetV2 and return the Output."""
    def ShuffleDataset(self, input_dataset: OutputLike, buffer_size: TensorLike, seed: TensorLike, seed2: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reshuffle_each_iteration: bool = True, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that shuffles elements from `input_dataset` pseudorandomly."""
    def ShuffleDatasetV2(self, input_dataset: OutputLike, buffer_size: TensorLike, seed_generator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ShuffleDatasetV2 and return the Output."""
    def ShuffleDatasetV3(self, input_dataset: OutputLike, buffer_size: TensorLike, seed: TensorLike, seed2: TensorLike, seed_generator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reshuffle_each_iteration: bool = True, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ShuffleDatasetV3 and return the Output."""
    def ShutdownDistributedTPU(self, *, name: str | None = None) -> Node:
        """Shuts down a running distributed TPU system."""
    def ShutdownTPUSystem(self, *, name: str | None = None) -> Output:
        """Add a node of type ShutdownTPUSystem and return the Output."""
    def Sigmoid(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes sigmoid of `x` element-wise."""
    def SigmoidGrad(self, y: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the gradient of the sigmoid of `x` wrt its input."""
    def Sign(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns an element-wise indication of the sign of a number."""
    def Simple(self, a: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type Simple and return the Output."""
    def SimpleStruct(self, *, n_a: int, name: str | None = None) -> OutputsOrNode:
        """Add a node of type SimpleStruct and return a tuple of Outputs."""
    def Sin(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes sine of x element-wise."""
    def Sinh(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes hyperbolic sine of x element-wise."""
    def Size(self, input: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns the size of a tensor."""
    def SkipDataset(self, input_dataset: OutputLike, count: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that skips `count` elements from the `input_dataset`."""
    def Skipgram(self, *, filename: str | bytes, batch_size: int, window_size: int = 5, min_count: int = 5, subsample: float = 0.0010000000474974513, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type Skipgram and return a tuple of Outputs."""
    def SleepDataset(self, input_dataset: OutputLike, sleep_microseconds: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type SleepDataset and return the Output."""
    def SleepIdentityOp(self, sleep_seconds: TensorLike, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SleepIdentityOp and return the Output."""
    def SleepOp(self, sleep_seconds: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type SleepOp and return the Node."""
    def Slice(self, input: TensorLike, begin: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, name: str | None = None) -> Output:
        """Return a slice from 'input'."""
    def SlidingWindowDataset(self, input_dataset: OutputLike, window_size: TensorLike, window_shift: TensorLike, window_stride: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], drop_remainder: bool = True, name: str | None = None) -> Output:
        """Creates a dataset that passes a sliding window over `input_dataset`."""
    def Snapshot(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns a copy of the input tensor."""
    def SnapshotChunkDataset(self, chunk_file: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], compression: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type SnapshotChunkDataset and return the Output."""
    def SnapshotDataset(self, input_dataset: OutputLike, path: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], compression: str | bytes = '', reader_path_prefix: str | bytes = '', writer_path_prefix: str | bytes = '', shard_size_bytes: int = 10737418240, pending_snapshot_expiry_seconds: int = 86400, num_reader_threads: int = 1, reader_buffer_size: int = 1, num_writer_threads: int = 1, writer_buffer_size: int = 1, shuffle_on_read: bool = False, seed: int = 0, seed2: int = 0, mode: str | bytes = 'auto', snapshot_name: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that will write to / read from a snapshot."""
    def SnapshotDatasetReader(self, shard_dir: TensorLike, start_index: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], version: int, compression: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type SnapshotDatasetReader and return the Output."""
    def SnapshotDatasetV2(self, input_dataset: OutputLike, path: TensorLike, reader_func_other_args: Sequence[TensorLike], shard_func_other_args: Sequence[TensorLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reader_func: FuncRef | str, shard_func: FuncRef | str, compression: str | bytes = '', reader_prefix: str | bytes = '', writer_prefix: str | bytes = '', hash_valid: bool = False, hash: int = 0, Treader_func_args: Sequence[DTypeLike] | None = None, Tshard_func_args: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that will write to / read from a snapshot."""
    def SnapshotNestedDatasetReader(self, inputs: Sequence[OutputLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, name: str | None = None) -> Output:
        """Add a node of type SnapshotNestedDatasetReader and return the Output."""
    def SobolSample(self, dim: TensorLike, num_results: TensorLike, skip: TensorLike, /, *, dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Generates points from the Sobol sequence."""
    def Softmax(self, logits: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes softmax activations."""
    def SoftmaxCrossEntropyWithLogits(self, features: TensorLike, labels: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Computes softmax cross entropy cost and gradients to backpropagate."""
    def Softplus(self, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Softplus and return the Output."""
    def SoftplusGrad(self, gradients: TensorLike, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes softplus gradients for a softplus operation."""
    def Softsign(self, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes softsign: `features / (abs(features) + 1)`."""
    def SoftsignGrad(self, gradients: TensorLike, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes softsign gradients for a softsign operation."""
    def SortListOfSparseCoreCooTensors(self, row_ids_list: Sequence[TensorLike], col_ids_list: Sequence[TensorLike], gains_list: Sequence[TensorLike], /, *, sample_count_list: Sequence[int], col_offset_list: Sequence[int], num_replica: int, table_vocab_size: int, feature_width: int, num_sc_per_chip: int, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str | bytes, N: int | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type SortListOfSparseCoreCooTensors and return a tuple of Outputs."""
    def SpaceToBatch(self, input: TensorLike, paddings: TensorLike, /, *, block_size: int, T: DTypeLike | None = None, Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """SpaceToBatch for 4-D tensors of type T."""
    def SpaceToBatchND(self, input: TensorLike, block_shape: TensorLike, paddings: TensorLike, /, *, T: DTypeLike | None = None, Tblock_shape: DTypeLike = ..., Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """SpaceToBatch for N-D tensors of type T."""
    def SpaceToDepth(self, input: TensorLike, /, *, block_size: int, T: DTypeLike | None = None, data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] | bytes = 'NHWC', name: str | None = None) -> Output:
        """SpaceToDepth for tensors of type T."""
    def SparseAccumulatorApplyGradient(self, handle: OutputLike, local_step: TensorLike, gradient_indices: TensorLike, gradient_values: TensorLike, gradient_shape: TensorLike, /, *, has_known_shape: bool, dtype: DTypeLike | None = None, name: str | None = None) -> Node:
        """Applies a sparse gradient to a given accumulator."""
    def SparseAccumulatorTakeGradient(self, handle: OutputLike, num_required: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> tuple[Output, Output, Output]:
        """Extracts the average sparse gradient in a SparseConditionalAccumulator."""
    def SparseAdd(self, a_indices: TensorLike, a_values: TensorLike, a_shape: TensorLike, b_indices: TensorLike, b_values: TensorLike, b_shape: TensorLike, thresh: TensorLike, /, *, T: DTypeLike | None = None, Treal: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Adds two `SparseTensor` objects to produce another `SparseTensor`."""
    def SparseAddGrad(self, backprop_val_grad: TensorLike, a_indices: TensorLike, b_indices: TensorLike, sum_indices: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """The gradient operator for the SparseAdd op."""
    def SparseApplyAdadelta(self, var: OutputLike, accum: OutputLike, accum_update: OutputLike, lr: TensorLike, rho: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Var: Should be from a Variable()."""
    def SparseApplyAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Output:
        """Update relevant entries in '*var' and '*accum' according to the adagrad scheme."""
    def SparseApplyAdagradDA(self, var: OutputLike, gradient_accumulator: OutputLike, gradient_squared_accumulator: OutputLike, grad: TensorLike, indices: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, global_step: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update entries in '*var' and '*accum' according to the proximal adagrad scheme."""
    def SparseApplyAdagradV2(self, var: OutputLike, accum: OutputLike, lr: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Output:
        """Update relevant entries in '*var' and '*accum' according to the adagrad scheme."""
    def SparseApplyCenteredRMSProp(self, var: OutputLike, mg: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the centered RMSProp algorithm."""
    def SparseApplyFtrl(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, indices: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Output:
        """Update relevant entries in '*var' according to the Ftrl-proximal scheme."""
    def SparseApplyFtrlV2(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, indices: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, l2_shrinkage: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Output:
        """Update relevant entries in '*var' according to the Ftrl-proximal scheme."""
    def SparseApplyMomentum(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, indices: TensorLike, momentum: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Output:
        """Update relevant entries in '*var' and '*accum' according to the momentum scheme."""
    def SparseApplyProximalAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Sparse update entries in '*var' and '*accum' according to FOBOS algorithm."""
    def SparseApplyProximalGradientDescent(self, var: OutputLike, alpha: TensorLike, l1: TensorLike, l2: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Sparse update '*var' as FOBOS algorithm with fixed learning rate."""
    def SparseApplyRMSProp(self, var: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Update '*var' according to the RMSProp algorithm."""
    def SparseBincount(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike, size: TensorLike, weights: TensorLike, /, *, Tidx: DTypeLike | None = None, T: DTypeLike | None = None, binary_output: bool = False, name: str | None = None) -> Output:
        """Counts the number of occurrences of each value in an integer array."""
    def SparseConcat(self, indices: Sequence[TensorLike], values: Sequence[TensorLike], shapes: Sequence[TensorLike], /, *, concat_dim: int, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Concatenates a list of `SparseTensor` along the specified dimension."""
    def SparseConditionalAccumulator(self, *, dtype: DTypeLike, shape: ShapeLike, container: str | bytes = '', shared_name: str | bytes = '', reduction_type: Literal['MEAN', 'SUM'] | bytes = 'MEAN', name: str | None = None) -> Output:
        """A conditional accumulator for aggregating sparse gradients."""
    def SparseCountSparseOutput(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike, weights: TensorLike, /, *, binary_output: bool, T: DTypeLike | None = None, minlength: int = -1, maxlength: int = -1, output_type: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Performs sparse-output bin counting for a sparse tensor input."""
    def SparseCross(self, indices: Sequence[TensorLike], values: Sequence[TensorLike], shapes: Sequence[TensorLike], dense_inputs: Sequence[TensorLike], /, *, hashed_output: bool, num_buckets: int, hash_key: int, out_type: DTypeLike, internal_type: DTypeLike, N: int | None = None, sparse_types: Sequence[DTypeLike] | None = None, dense_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Generates sparse cross from a list of sparse and dense tensors."""
    def SparseCrossHashed(self, indices: Sequence[TensorLike], values: Sequence[TensorLike], shapes: Sequence[TensorLike], dense_inputs: Sequence[TensorLike], num_buckets: TensorLike, strong_hash: TensorLike, salt: TensorLike, /, *, N: int | None = None, sparse_types: Sequence[DTypeLike] | None = None, dense_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Generates sparse cross from a list of sparse and dense tensors."""
    def SparseCrossV2(self, indices: Sequence[TensorLike], values: Sequence[TensorLike], shapes: Sequence[TensorLike], dense_inputs: Sequence[TensorLike], sep: TensorLike, /, *, N: int | None = None, sparse_types: Sequence[DTypeLike] | None = None, dense_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Generates sparse cross from a list of sparse and dense tensors."""
    def SparseDenseCwiseAdd(self, sp_indices: TensorLike, sp_values: TensorLike, sp_shape: TensorLike, dense: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Adds up a SparseTensor and a dense Tensor, using these special rules."""
    def SparseDenseCwiseDiv(self, sp_indices: TensorLike, sp_values: TensorLike, sp_shape: TensorLike, dense: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Component-wise divides a SparseTensor by a dense Tensor."""
    def SparseDenseCwiseMul(self, sp_indices: TensorLike, sp_values: TensorLike, sp_shape: TensorLike, dense: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Component-wise multiplies a SparseTensor by a dense Tensor."""
    def SparseFillEmptyRows(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike, default_value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Fills empty rows in the input 2-D `SparseTensor` with a default value."""
    def SparseFillEmptyRowsGrad(self, reverse_index_map: TensorLike, grad_values: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """The gradient of SparseFillEmptyRows."""
    def SparseMatMul(self, a: TensorLike, b: TensorLike, /, *, transpose_a: bool = False, transpose_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, Ta: DTypeLike = ..., Tb: DTypeLike = ..., name: str | None = None) -> Output:
        """Multiply matrix "a" by matrix "b"."""
    def SparseMatrixAdd(self, a: OutputLike, b: OutputLike, alpha: TensorLike, beta: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Sparse addition of two CSR matrices, C = alpha * A + beta * B."""
    def SparseMatrixMatMul(self, a: OutputLike, b: TensorLike, /, *, T: DTypeLike | None = None, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False, adjoint_b: bool = False, transpose_output: bool = False, conjugate_output: bool = False, name: str | None = None) -> Output:
        """Matrix-multiplies a sparse matrix with a dense matrix."""
    def SparseMatrixMul(self, a: OutputLike, b: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Element-wise multiplication of a sparse matrix with a dense tensor."""
    def SparseMatrixNNZ(self, sparse_matrix: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the number of nonzeroes of `sparse_matrix`."""
    def SparseMatrixOrderingAMD(self, input: OutputLike, /, *, name: str | None = None) -> Output:
        """Computes the Approximate Minimum Degree (AMD) ordering of `input`."""
    def SparseMatrixSoftmax(self, logits: OutputLike, /, *, type: DTypeLike, name: str | None = None) -> Output:
        """Calculates the softmax of a CSRSparseMatrix."""
    def SparseMatrixSoftmaxGrad(self, softmax: OutputLike, grad_softmax: OutputLike, /, *, type: DTypeLike, name: str | None = None) -> Output:
        """Calculates the gradient of the SparseMatrixSoftmax op."""
    def SparseMatrixSparseCholesky(self, input: OutputLike, permutation: TensorLike, /, *, type: DTypeLike, name: str | None = None) -> Output:
        """Computes the sparse Cholesky decomposition of `input`."""
    def SparseMatrixSparseMatMul(self, a: OutputLike, b: OutputLike, /, *, type: DTypeLike, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None) -> Output:
        """Sparse-matrix-multiplies two CSR matrices `a` and `b`."""
    def SparseMatrixTranspose(self, input: OutputLike, /, *, type: DTypeLike, conjugate: bool = False, name: str | None = None) -> Output:
        """Transposes the inner (matrix) dimensions of a CSRSparseMatrix."""
    def SparseMatrixZeros(self, dense_shape: TensorLike, /, *, type: DTypeLike, name: str | None = None) -> Output:
        """Creates an all-zeros CSRSparseMatrix with shape `dense_shape`."""
    def SparseReduceMax(self, input_indices: TensorLike, input_values: TensorLike, input_shape: TensorLike, reduction_axes: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the max of elements across dimensions of a SparseTensor."""
    def SparseReduceMaxSparse(self, input_indices: TensorLike, input_values: TensorLike, input_shape: TensorLike, reduction_axes: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes the max of elements across dimensions of a SparseTensor."""
    def SparseReduceSum(self, input_indices: TensorLike, input_values: TensorLike, input_shape: TensorLike, reduction_axes: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the sum of elements across dimensions of a SparseTensor."""
    def SparseReduceSumSparse(self, input_indices: TensorLike, input_values: TensorLike, input_shape: TensorLike, reduction_axes: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes the sum of elements across dimensions of a SparseTensor."""
    def SparseReorder(self, input_indices: TensorLike, input_values: TensorLike, input_shape: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Reorders a SparseTensor into the canonical, row-major ordering."""
    def SparseReshape(self, input_indices: TensorLike, input_shape: TensorLike, new_shape: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Reshapes a SparseTensor to represent values in a new dense shape."""
    def SparseSegmentMean(self, data: TensorLike, indices: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., sparse_gradient: bool = False, name: str | None = None) -> Output:
        """Computes the mean along sparse segments of a tensor."""
    def SparseSegmentMeanGrad(self, grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, output_dim0: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes gradients for SparseSegmentMean."""
    def SparseSegmentMeanGradV2(self, grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, dense_output_dim0: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Computes gradients for SparseSegmentMean."""
    def SparseSegmentMeanWithNumSegments(self, data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tnumsegments: DTypeLike = ..., Tsegmentids: DTypeLike = ..., sparse_gradient: bool = False, name: str | None = None) -> Output:
        """Computes the mean along sparse segments of a tensor."""
    def SparseSegmentSqrtN(self, data: TensorLike, indices: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., sparse_gradient: bool = False, name: str | None = None) -> Output:
        """Computes the sum along sparse segments of a tensor divided by the sqrt of N."""
    def SparseSegmentSqrtNGrad(self, grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, output_dim0: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes gradients for SparseSegmentSqrtN."""
    def SparseSegmentSqrtNGradV2(self, grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, dense_output_dim0: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Computes gradients for SparseSegmentSqrtN."""
    def SparseSegmentSqrtNWithNumSegments(self, data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tnumsegments: DTypeLike = ..., Tsegmentids: DTypeLike = ..., sparse_gradient: bool = False, name: str | None = None) -> Output:
        """Computes the sum along sparse segments of a tensor divided by the sqrt of N."""
    def SparseSegmentSum(self, data: TensorLike, indices: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., sparse_gradient: bool = False, name: str | None = None) -> Output:
        """Computes the sum along sparse segments of a tensor."""
    def SparseSegmentSumGrad(self, grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, output_dim0: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes gradients for SparseSegmentSum."""
    def SparseSegmentSumGradV2(self, grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, dense_output_dim0: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Computes gradients for SparseSegmentSum."""
    def SparseSegmentSumWithNumSegments(self, data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tnumsegments: DTypeLike = ..., Tsegmentids: DTypeLike = ..., sparse_gradient: bool = False, name: str | None = None) -> Output:
        """Computes the sum along sparse segments of a tensor."""
    def SparseSlice(self, indices: TensorLike, values: TensorLike, shape: TensorLike, start: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Slice a `SparseTensor` based on the `start` and `size`."""
    def SparseSliceGrad(self, backprop_val_grad: TensorLike, input_indices: TensorLike, input_start: TensorLike, output_indices: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """The gradient operator for the SparseSlice op."""
    def SparseSoftmax(self, sp_indices: TensorLike, sp_values: TensorLike, sp_shape: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Applies softmax to a batched N-D `SparseTensor`."""
    def SparseSoftmaxCrossEntropyWithLogits(self, features: TensorLike, labels: TensorLike, /, *, T: DTypeLike | None = None, Tlabels: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Computes softmax cross entropy cost and gradients to backpropagate."""
    def SparseSparseMaximum(self, a_indices: TensorLike, a_values: TensorLike, a_shape: TensorLike, b_indices: TensorLike, b_values: TensorLike, b_shape: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Returns the element-wise max of two SparseTensors."""
    def SparseSparseMinimum(self, a_indices: TensorLike, a_values: TensorLike, a_shape: TensorLike, b_indices: TensorLike, b_values: TensorLike, b_shape: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Returns the element-wise min of two SparseTensors."""
    def SparseSplit(self, split_dim: TensorLike, indices: TensorLike, values: TensorLike, shape: TensorLike, /, *, num_split: int, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Split a `SparseTensor` into `num_split` tensors along one dimension."""
    def SparseTensorDenseAdd(self, a_indices: TensorLike, a_values: TensorLike, a_shape: TensorLike, b: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Adds up a `SparseTensor` and a dense `Tensor`, producing a dense `Tensor`."""
    def SparseTensorDenseMatMul(self, a_indices: TensorLike, a_values: TensorLike, a_shape: TensorLike, b: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike = ..., adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None) -> Output:
        """Multiply SparseTensor (of rank 2) "A" by dense matrix "B"."""
    def SparseTensorSliceDataset(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike, /, *, Tvalues: DTypeLike | None = None, name: str | None = None) -> Output:
        """Creates a dataset that splits a SparseTensor into elements row-wise."""
    def SparseTensorToCSRSparseMatrix(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Converts a SparseTensor to a (possibly batched) CSRSparseMatrix."""
    def SparseToDense(self, sparse_indices: TensorLike, output_shape: TensorLike, sparse_values: TensorLike, default_value: TensorLike, /, *, validate_indices: bool = True, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Converts a sparse representation into a dense tensor."""
    def SparseToSparseSetOperation(self, set1_indices: TensorLike, set1_values: TensorLike, set1_shape: TensorLike, set2_indices: TensorLike, set2_values: TensorLike, set2_shape: TensorLike, /, *, set_operation: str | bytes, validate_indices: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Applies set operation along last dimension of 2 `SparseTensor` inputs."""
    def Spence(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Spence and return the Output."""
    def Split(self, split_dim: TensorLike, value: TensorLike, /, *, num_split: int, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Splits a tensor into `num_split` tensors along one dimension."""
    def SplitDedupData(self, input: OutputLike, /, *, integer_type: DTypeLike, float_type: DTypeLike, tuple_mask: str | bytes, config: str | bytes = '', name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SplitDedupData and return a tuple of Outputs."""
    def SplitV(self, value: TensorLike, size_splits: TensorLike, split_dim: TensorLike, /, *, num_split: int, T: DTypeLike | None = None, Tlen: DTypeLike = ..., name: str | None = None) -> tuple[Output, ...]:
        """Splits a tensor into `num_split` tensors along one dimension."""
    def SqlDataset(self, driver_name: TensorLike, data_source_name: TensorLike, query: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that executes a SQL query and emits rows of the result set."""
    def Sqrt(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes square root of x element-wise."""
    def SqrtGrad(self, y: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the gradient for the sqrt of `x` wrt its input."""
    def Square(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes square of x element-wise."""
    def SquaredDifference(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns conj(x - y)(x - y) element-wise."""
    def Squeeze(self, input: TensorLike, /, *, T: DTypeLike | None = None, squeeze_dims: Sequence[int] = ..., name: str | None = None) -> Output:
        """Removes dimensions of size 1 from the shape of a tensor."""
    def Stack(self, *, elem_type: DTypeLike, stack_name: str | bytes = '', name: str | None = None) -> Output:
        """Deprecated, use StackV2."""
    def StackClose(self, handle: OutputLike, /, *, name: str | None = None) -> Node:
        """Deprecated, use StackCloseV2."""
    def StackCloseV2(self, handle: OutputLike, /, *, name: str | None = None) -> Node:
        """Delete the stack from its resource container."""
    def StackPop(self, handle: OutputLike, /, *, elem_type: DTypeLike, name: str | None = None) -> Output:
        """Deprecated, use StackPopV2."""
    def StackPopV2(self, handle: OutputLike, /, *, elem_type: DTypeLike, name: str | None = None) -> Output:
        """Pop the element at the top of the stack."""
    def StackPush(self, handle: OutputLike, elem: TensorLike, /, *, T: DTypeLike | None = None, swap_memory: bool = False, name: str | None = None) -> Output:
        """Deprecated, use StackPushV2."""
    def StackPushV2(self, handle: OutputLike, elem: TensorLike, /, *, T: DTypeLike | None = None, swap_memory: bool = False, name: str | None = None) -> Output:
        """Push an element onto the stack."""
    def StackV2(self, max_size: TensorLike, /, *, elem_type: DTypeLike, stack_name: str | bytes = '', name: str | None = None) -> Output:
        """A stack that produces elements in first-in last-out order."""
    def Stage(self, values: Sequence[TensorLike], /, *, capacity: int = 0, memory_limit: int = 0, dtypes: Sequence[DTypeLike] | None = None, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Node:
        """Stage values similar to a lightweight Enqueue."""
    def StageClear(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Node:
        """Op removes all elements in the underlying container."""
    def StagePeek(self, index: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Op peeks at the values at the specified index."""
    def StageSize(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Op returns the number of elements in the underlying container."""
    def StatefulPartitionedCall(self, args: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], f: FuncRef | str, Tin: Sequence[DTypeLike] | None = None, config: str | bytes = '', config_proto: str | bytes = '', executor_type: str | bytes = '', name: str | None = None) -> OutputsOrNode:
        """Returns `f(inputs)`, where `f`'s body is placed and partitioned."""
    def StatefulRandomBinomial(self, resource: OutputLike, algorithm: TensorLike, shape: TensorLike, counts: TensorLike, probs: TensorLike, /, *, S: DTypeLike | None = None, T: DTypeLike = ..., dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatefulRandomBinomial and return the Output."""
    def StatefulStandardNormal(self, resource: OutputLike, shape: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs random values from a normal distribution."""
    def StatefulStandardNormalV2(self, resource: OutputLike, algorithm: TensorLike, shape: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs random values from a normal distribution."""
    def StatefulTruncatedNormal(self, resource: OutputLike, algorithm: TensorLike, shape: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs random values from a truncated normal distribution."""
    def StatefulUniform(self, resource: OutputLike, algorithm: TensorLike, shape: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs random values from a uniform distribution."""
    def StatefulUniformFullInt(self, resource: OutputLike, algorithm: TensorLike, shape: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs random integers from a uniform distribution."""
    def StatefulUniformInt(self, resource: OutputLike, algorithm: TensorLike, shape: TensorLike, minval: TensorLike, maxval: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs random integers from a uniform distribution."""
    def StatelessCase(self, branch_index: TensorLike, input: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], branches: Sequence[FuncRef | str], Tin: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """An n-way switch statement which calls a single branch function."""
    def StatelessIf(self, cond: TensorLike, input: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], then_branch: FuncRef | str, else_branch: FuncRef | str, Tcond: DTypeLike | None = None, Tin: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """Output = cond ? then_branch(input) : else_branch(input)."""
    def StatelessMultinomial(self, logits: TensorLike, num_samples: TensorLike, seed: TensorLike, /, *, T: DTypeLike | None = None, Tseed: DTypeLike = ..., output_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Draws samples from a multinomial distribution."""
    def StatelessParameterizedTruncatedNormal(self, shape: TensorLike, seed: TensorLike, means: TensorLike, stddevs: TensorLike, minvals: TensorLike, maxvals: TensorLike, /, *, S: DTypeLike | None = None, Tseed: DTypeLike = ..., dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type StatelessParameterizedTruncatedNormal and return the Output."""
    def StatelessRandomBinomial(self, shape: TensorLike, seed: TensorLike, counts: TensorLike, probs: TensorLike, /, *, S: DTypeLike | None = None, Tseed: DTypeLike = ..., T: DTypeLike = ..., dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom random numbers from a binomial distribution."""
    def StatelessRandomGammaV2(self, shape: TensorLike, seed: TensorLike, alpha: TensorLike, /, *, dtype: DTypeLike | None = None, T: DTypeLike | None = None, Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom random numbers from a gamma distribution."""
    def StatelessRandomGammaV3(self, shape: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, alpha: TensorLike, /, *, dtype: DTypeLike | None = None, shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom random numbers from a gamma distribution."""
    def StatelessRandomGetAlg(self, *, name: str | None = None) -> Output:
        """Picks the best counter-based RNG algorithm based on device."""
    def StatelessRandomGetKeyCounter(self, seed: TensorLike, /, *, Tseed: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Scrambles seed into key and counter, using the best algorithm based on device."""
    def StatelessRandomGetKeyCounterAlg(self, seed: TensorLike, /, *, Tseed: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Picks the best algorithm based on device, and scrambles seed into key and counter."""
    def StatelessRandomNormal(self, shape: TensorLike, seed: TensorLike, /, *, dtype: DTypeLike = ..., T: DTypeLike = ..., Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom values from a normal distribution."""
    def StatelessRandomNormalV2(self, shape: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, /, *, dtype: DTypeLike = ..., Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom values from a normal distribution."""
    def StatelessRandomPoisson(self, shape: TensorLike, seed: TensorLike, lam: TensorLike, /, *, dtype: DTypeLike, Rtype: DTypeLike | None = None, T: DTypeLike | None = None, Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom random numbers from a Poisson distribution."""
    def StatelessRandomUniform(self, shape: TensorLike, seed: TensorLike, /, *, dtype: DTypeLike = ..., T: DTypeLike = ..., Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom random values from a uniform distribution."""
    def StatelessRandomUniformFullInt(self, shape: TensorLike, seed: TensorLike, /, *, dtype: DTypeLike = ..., T: DTypeLike = ..., Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom random integers from a uniform distribution."""
    def StatelessRandomUniformFullIntV2(self, shape: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, /, *, dtype: DTypeLike = ..., Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom random integers from a uniform distribution."""
    def StatelessRandomUniformInt(self, shape: TensorLike, seed: TensorLike, minval: TensorLike, maxval: TensorLike, /, *, dtype: DTypeLike | None = None, T: DTypeLike | None = None, Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom random integers from a uniform distribution."""
    def StatelessRandomUniformIntV2(self, shape: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, minval: TensorLike, maxval: TensorLike, /, *, dtype: DTypeLike | None = None, Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom random integers from a uniform distribution."""
    def StatelessRandomUniformV2(self, shape: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, /, *, dtype: DTypeLike = ..., Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom random values from a uniform distribution."""
    def StatelessSampleDistortedBoundingBox(self, image_size: TensorLike, bounding_boxes: TensorLike, min_object_covered: TensorLike, seed: TensorLike, /, *, T: DTypeLike | None = None, Tseed: DTypeLike | None = None, aspect_ratio_range: Sequence[float] = ..., area_range: Sequence[float] = ..., max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Generate a randomly distorted bounding box for an image deterministically."""
    def StatelessShuffle(self, value: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Randomly and deterministically shuffles a tensor along its first dimension."""
    def StatelessTruncatedNormal(self, shape: TensorLike, seed: TensorLike, /, *, dtype: DTypeLike = ..., T: DTypeLike = ..., Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom values from a truncated normal distribution."""
    def StatelessTruncatedNormalV2(self, shape: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, /, *, dtype: DTypeLike = ..., Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Outputs deterministic pseudorandom values from a truncated normal distribution."""
    def StatelessWhile(self, input: Sequence[TensorLike], /, *, cond: FuncRef | str, body: FuncRef | str, T: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., parallel_iterations: int = 10, name: str | None = None) -> OutputsOrNode:
        """Output = input; While (Cond(output)) { output = Body(output) }."""
    def StaticRegexFullMatch(self, input: TensorLike, /, *, pattern: str | bytes, name: str | None = None) -> Output:
        """Check if the input matches the regex pattern."""
    def StaticRegexReplace(self, input: TensorLike, /, *, pattern: str | bytes, rewrite: str | bytes, replace_global: bool = True, name: str | None = None) -> Output:
        """Replaces the match of pattern in input with rewrite."""
    def StatsAggregatorHandle(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Creates a statistics manager resource."""
    def StatsAggregatorHandleV2(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type StatsAggregatorHandleV2 and return the Output."""
    def StatsAggregatorSetSummaryWriter(self, stats_aggregator: OutputLike, summary: OutputLike, /, *, name: str | None = None) -> Node:
        """Set a summary_writer_interface to record statistics using given stats_aggregator."""
    def StatsAggregatorSummary(self, iterator: OutputLike, /, *, name: str | None = None) -> Output:
        """Produces a summary of any statistics recorded by the given statistics manager."""
    def StochasticCastToInt(self, input: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, /, *, Tout: DTypeLike, Tin: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type StochasticCastToInt and return the Output."""
    def StopGradient(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Stops gradient computation."""
    def StoreMinibatchStatisticsInFdo(self, program_key: TensorLike, max_ids: TensorLike, max_uniques: TensorLike, /, *, sample_count: int, num_replica: int, feature_width: int, num_sc_per_chip: int, table_name: str | bytes, mini_batch_splits: str | bytes, name: str | None = None) -> Node:
        """Add a node of type StoreMinibatchStatisticsInFdo and return the Node."""
    def StridedSlice(self, input: TensorLike, begin: TensorLike, end: TensorLike, strides: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Output:
        """Return a strided slice from `input`."""
    def StridedSliceAssign(self, ref: OutputLike, begin: TensorLike, end: TensorLike, strides: TensorLike, value: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Output:
        """Assign `value` to the sliced l-value reference of `ref`."""
    def StridedSliceGrad(self, shape: TensorLike, begin: TensorLike, end: TensorLike, strides: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Output:
        """Returns the gradient of `StridedSlice`."""
    def StringFormat(self, inputs: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, template: str | bytes = '%s', placeholder: str | bytes = '%s', summarize: int = 3, name: str | None = None) -> Output:
        """Formats a string template using a list of tensors."""
    def StringJoin(self, inputs: Sequence[TensorLike], /, *, N: int | None = None, separator: str | bytes = '', name: str | None = None) -> Output:
        """Joins the strings in the given list of string tensors into one tensor;."""
    def StringLength(self, input: TensorLike, /, *, unit: Literal['BYTE', 'UTF8_CHAR'] | bytes = 'BYTE', name: str | None = None) -> Output:
        """String lengths of `input`."""
    def StringListAttr(self, *, a: Sequence[str | bytes], b: str | bytes, name: str | None = None) -> Node:
        """Add a node of type StringListAttr and return the Node."""
    def StringLower(self, input: TensorLike, /, *, encoding: str | bytes = '', name: str | None = None) -> Output:
        """Converts all uppercase characters into their respective lowercase replacements."""
    def StringNGrams(self, data: TensorLike, data_splits: TensorLike, /, *, separator: str | bytes, ngram_widths: Sequence[int], left_pad: str | bytes, right_pad: str | bytes, pad_width: int, preserve_short_sequences: bool, Tsplits: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Creates ngrams from ragged string data."""
    def StringSplit(self, input: TensorLike, delimiter: TensorLike, /, *, skip_empty: bool = True, name: str | None = None) -> tuple[Output, Output, Output]:
        """Split elements of `input` based on `delimiter` into a `SparseTensor`."""
    def StringSplitV2(self, input: TensorLike, sep: TensorLike, /, *, maxsplit: int = -1, name: str | None = None) -> tuple[Output, Output, Output]:
        """Split elements of `source` based on `sep` into a `SparseTensor`."""
    def StringStrip(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Strip leading and trailing whitespaces from the Tensor."""
    def StringToHashBucket(self, string_tensor: TensorLike, /, *, num_buckets: int, name: str | None = None) -> Output:
        """Converts each string in the input Tensor to its hash mod by a number of buckets."""
    def StringToHashBucketFast(self, input: TensorLike, /, *, num_buckets: int, name: str | None = None) -> Output:
        """Converts each string in the input Tensor to its hash mod by a number of buckets."""
    def StringToHashBucketStrong(self, input: TensorLike, /, *, num_buckets: int, key: Sequence[int], name: str | None = None) -> Output:
        """Converts each string in the input Tensor to its hash mod by a number of buckets."""
    def StringToNumber(self, string_tensor: TensorLike, /, *, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Converts each string in the input Tensor to the specified numeric type."""
    def StringUpper(self, input: TensorLike, /, *, encoding: str | bytes = '', name: str | None = None) -> Output:
        """Converts all lowercase characters into their respective uppercase replacements."""
    def StubResourceHandleOp(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type StubResourceHandleOp and return the Output."""
    def Sub(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns x - y element-wise."""
    def Substr(self, input: TensorLike, pos: TensorLike, len: TensorLike, /, *, T: DTypeLike | None = None, unit: Literal['BYTE', 'UTF8_CHAR'] | bytes = 'BYTE', name: str | None = None) -> Output:
        """Return substrings from `Tensor` of strings."""
    def Sum(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the sum of elements across dimensions of a tensor."""
    def SummaryWriter(self, *, shared_name: str | bytes = '', container: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type SummaryWriter and return the Output."""
    def Svd(self, input: TensorLike, /, *, compute_uv: bool = True, full_matrices: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Computes the singular value decompositions of one or more matrices."""
    def Switch(self, data: TensorLike, pred: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Forwards `data` to the output port determined by `pred`."""
    def SymbolicGradient(self, input: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], f: FuncRef | str, Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Computes the gradient function for function f via backpropagation."""
    def SyncDevice(self, *, name: str | None = None) -> Node:
        """Synchronizes the device this op is run on."""
    def TFRecordDataset(self, filenames: TensorLike, compression_type: TensorLike, buffer_size: TensorLike, /, *, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that emits the records from one or more TFRecord files."""
    def TFRecordDatasetV2(self, filenames: TensorLike, compression_type: TensorLike, buffer_size: TensorLike, byte_offsets: TensorLike, /, *, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that emits the records from one or more TFRecord files."""
    def TFRecordReader(self, *, container: str | bytes = '', shared_name: str | bytes = '', compression_type: str | bytes = '', name: str | None = None) -> Output:
        """A Reader that outputs the records from a TensorFlow Records file."""
    def TFRecordReaderV2(self, *, container: str | bytes = '', shared_name: str | bytes = '', compression_type: str | bytes = '', name: str | None = None) -> Output:
        """A Reader that outputs the records from a TensorFlow Records file."""
    def TPUAnnotateTensorsWithDynamicShape(self, tensors: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type TPUAnnotateTensorsWithDynamicShape and return a tuple of Outputs."""
    def TPUCompilationResult(self, *, name: str | None = None) -> Output:
        """Returns the result of a TPU compilation."""
    def TPUCompile(self, dynamic_shapes: Sequence[TensorLike], guaranteed_constants: Sequence[TensorLike], /, *, num_computations: int, function: FuncRef | str, metadata: str | bytes, NumDynamicShapes: int | None = None, Tguaranteed_constants: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type TPUCompile and return a tuple of Outputs."""
    def TPUCompileSucceededAssert(self, compilation_status: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type TPUCompileSucceededAssert and return the Node."""
    def TPUCopyWithDynamicShape(self, tensors: Sequence[TensorLike], unpadded_sizes: Sequence[TensorLike], /, *, N: int | None = None, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Op that copies host tensor to device with dynamic shape support."""
    def TPUDummyInput(self, *, dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Output:
        """Generates a zero-valued tensor for use as a dummy input to a TPU."""
    def TPUEmbeddingActivations(self, embedding_variable: TensorLike, sliced_activations: TensorLike, /, *, table_id: int, lookup_id: int, name: str | None = None) -> Output:
        """An op enabling differentiation of TPU Embeddings."""
    def TPUExecute(self, args: Sequence[TensorLike], key: TensorLike, /, *, Tresults: Sequence[DTypeLike], Targs: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type TPUExecute and return a tuple of Outputs."""
    def TPUExecuteAndUpdateVariables(self, args: Sequence[TensorLike], key: TensorLike, /, *, Tresults: Sequence[DTypeLike], device_var_reads_indices: Sequence[int], device_var_updates_indices: Sequence[int], Targs: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type TPUExecuteAndUpdateVariables and return a tuple of Outputs."""
    def TPUOrdinalSelector(self, *, name: str | None = None) -> Output:
        """A TPU core selector Op."""
    def TPUPartitionedCall(self, args: Sequence[TensorLike], device_ordinal: TensorLike, /, *, Tout: Sequence[DTypeLike], f: FuncRef | str, Tin: Sequence[DTypeLike] | None = None, autotuner_thresh: int = 0, name: str | None = None) -> OutputsOrNode:
        """Calls a function placed on a specified TPU device."""
    def TPUPartitionedInput(self, inputs: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, partition_dim: int = 0, name: str | None = None) -> Output:
        """An op that groups a list of partitioned inputs together."""
    def TPUPartitionedInputV2(self, inputs: Sequence[TensorLike], /, *, partition_dims: Sequence[int], N: int | None = None, T: DTypeLike | None = None, is_packed: bool = False, name: str | None = None) -> Output:
        """An op that groups a list of partitioned inputs together."""
    def TPUPartitionedOutput(self, inputs: TensorLike, /, *, num_splits: int, T: DTypeLike | None = None, partition_dim: int = 0, name: str | None = None) -> tuple[Output, ...]:
        """An op that demultiplexes a tensor to be sharded by XLA to a list of partitioned."""
    def TPUPartitionedOutputV2(self, inputs: TensorLike, /, *, num_splits: int, partition_dims: Sequence[int], T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, ...]:
        """An op that demultiplexes a tensor to be sharded by XLA to a list of partitioned."""
    def TPUReplicateMetadata(self, *, num_replicas: int, num_cores_per_replica: int = 1, topology: str | bytes = '', use_tpu: bool = True, device_assignment: Sequence[int] = ..., computation_shape: Sequence[int] = ..., host_compute_core: Sequence[str | bytes] = ..., padding_map: Sequence[str | bytes] = ..., step_marker_location: str | bytes = 'STEP_MARK_AT_ENTRY', allow_soft_placement: bool = False, use_spmd_for_xla_partitioning: bool = False, use_shardy_partitioner: bool = False, tpu_compile_options_proto: str | bytes = '', name: str | None = None) -> Node:
        """Metadata indicating how the TPU computation should be replicated."""
    def TPUReplicatedInput(self, inputs: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, is_mirrored_variable: bool = False, index: int = -1, is_packed: bool = False, name: str | None = None) -> Output:
        """Connects N inputs to an N-way replicated TPU computation."""
    def TPUReplicatedOutput(self, input: TensorLike, /, *, num_replicas: int, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Connects N outputs from an N-way replicated TPU computation."""
    def TPUReshardVariables(self, vars: Sequence[OutputLike], new_format_key: TensorLike, format_state_var: OutputLike, /, *, N: int | None = None, name: str | None = None) -> Node:
        """Add a node of type TPUReshardVariables and return the Node."""
    def TPURoundRobin(self, *, name: str | None = None) -> Output:
        """Add a node of type TPURoundRobin and return the Output."""
    def TakeDataset(self, input_dataset: OutputLike, count: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that contains `count` elements from the `input_dataset`."""
    def TakeManySparseFromTensorsMap(self, sparse_handles: TensorLike, /, *, dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Read `SparseTensors` from a `SparseTensorsMap` and concatenate them."""
    def TakeWhileDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], /, *, predicate: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that stops iteration when predicate` is false."""
    def Tan(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes tan of x element-wise."""
    def Tanh(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes hyperbolic tangent of `x` element-wise."""
    def TanhGrad(self, y: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Computes the gradient for the tanh of `x` wrt its input."""
    def TemporaryVariable(self, *, shape: ShapeLike, dtype: DTypeLike, var_name: str | bytes = '', name: str | None = None) -> Output:
        """Returns a tensor that may be mutated, but only persists within a single step."""
    def TensorArray(self, size: TensorLike, /, *, dtype: DTypeLike, dynamic_size: bool = False, clear_after_read: bool = True, tensor_array_name: str | bytes = '', element_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Add a node of type TensorArray and return the Output."""
    def TensorArrayClose(self, handle: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type TensorArrayClose and return the Node."""
    def TensorArrayCloseV2(self, handle: TensorLike, /, *, name: str | None = None) -> Node:
        """Deprecated."""
    def TensorArrayCloseV3(self, handle: OutputLike, /, *, name: str | None = None) -> Node:
        """Delete the TensorArray from its resource container."""
    def TensorArrayConcat(self, handle: OutputLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape_except0: ShapeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TensorArrayConcat and return a tuple of Outputs."""
    def TensorArrayConcatV2(self, handle: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape_except0: ShapeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Deprecated."""
    def TensorArrayConcatV3(self, handle: OutputLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape_except0: ShapeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Concat the elements from the TensorArray into value `value`."""
    def TensorArrayGather(self, handle: OutputLike, indices: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Add a node of type TensorArrayGather and return the Output."""
    def TensorArrayGatherV2(self, handle: TensorLike, indices: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Deprecated."""
    def TensorArrayGatherV3(self, handle: OutputLike, indices: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Gather specific elements from the TensorArray into output `value`."""
    def TensorArrayGrad(self, handle: TensorLike, flow_in: TensorLike, /, *, source: str | bytes, name: str | None = None) -> Output:
        """Add a node of type TensorArrayGrad and return the Output."""
    def TensorArrayGradV2(self, handle: TensorLike, flow_in: TensorLike, /, *, source: str | bytes, name: str | None = None) -> Output:
        """Deprecated."""
    def TensorArrayGradV3(self, handle: OutputLike, flow_in: TensorLike, /, *, source: str | bytes, name: str | None = None) -> tuple[Output, Output]:
        """Creates a TensorArray for storing the gradients of values in the given handle."""
    def TensorArrayGradWithShape(self, handle: OutputLike, flow_in: TensorLike, shape_to_prepend: TensorLike, /, *, source: str | bytes, name: str | None = None) -> tuple[Output, Output]:
        """Creates a TensorArray for storing multiple gradients of values in the given handle."""
    def TensorArrayPack(self, handle: OutputLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Add a node of type TensorArrayPack and return the Output."""
    def TensorArrayRead(self, handle: OutputLike, index: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type TensorArrayRead and return the Output."""
    def TensorArrayReadV2(self, handle: TensorLike, index: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Deprecated."""
    def TensorArrayReadV3(self, handle: OutputLike, index: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Read an element from the TensorArray into output `value`."""
    def TensorArrayScatter(self, handle: OutputLike, indices: TensorLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArrayScatter and return the Output."""
    def TensorArrayScatterV2(self, handle: TensorLike, indices: TensorLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Deprecated."""
    def TensorArrayScatterV3(self, handle: OutputLike, indices: TensorLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Scatter the data from the input value into specific TensorArray elements."""
    def TensorArraySize(self, handle: OutputLike, flow_in: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type TensorArraySize and return the Output."""
    def TensorArraySizeV2(self, handle: TensorLike, flow_in: TensorLike, /, *, name: str | None = None) -> Output:
        """Deprecated."""
    def TensorArraySizeV3(self, handle: OutputLike, flow_in: TensorLike, /, *, name: str | None = None) -> Output:
        """Get the current size of the TensorArray."""
    def TensorArraySplit(self, handle: OutputLike, value: TensorLike, lengths: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArraySplit and return the Output."""
    def TensorArraySplitV2(self, handle: TensorLike, value: TensorLike, lengths: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Deprecated."""
    def TensorArraySplitV3(self, handle: OutputLike, value: TensorLike, lengths: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Split the data from the input value into TensorArray elements."""
    def TensorArrayUnpack(self, handle: OutputLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArrayUnpack and return the Output."""
    def TensorArrayV2(self, size: TensorLike, /, *, dtype: DTypeLike, element_shape: ShapeLike = ..., dynamic_size: bool = False, clear_after_read: bool = True, tensor_array_name: str | bytes = '', name: str | None = None) -> Output:
        """Deprecated."""
    def TensorArrayV3(self, size: TensorLike, /, *, dtype: DTypeLike, element_shape: ShapeLike = ..., dynamic_size: bool = False, clear_after_read: bool = True, identical_element_shapes: bool = False, tensor_array_name: str | bytes = '', name: str | None = None) -> tuple[Output, Output]:
        """An array of Tensors of given size."""
    def TensorArrayWrite(self, handle: OutputLike, index: TensorLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArrayWrite and return the Output."""
    def TensorArrayWriteV2(self, handle: TensorLike, index: TensorLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Deprecated."""
    def TensorArrayWriteV3(self, handle: OutputLike, index: TensorLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Push an element onto the tensor_array."""
    def TensorDataset(self, components: Sequence[TensorLike], /, *, output_shapes: Sequence[ShapeLike], Toutput_types: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that emits `components` as a tuple of tensors once."""
    def TensorListConcat(self, input_handle: OutputLike, /, *, element_dtype: DTypeLike, element_shape: ShapeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Concats all tensors in the list along the 0th dimension."""
    def TensorListConcatLists(self, input_a: OutputLike, input_b: OutputLike, /, *, element_dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type TensorListConcatLists and return the Output."""
    def TensorListConcatV2(self, input_handle: OutputLike, element_shape: TensorLike, leading_dims: TensorLike, /, *, element_dtype: DTypeLike, shape_type: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Concats all tensors in the list along the 0th dimension."""
    def TensorListElementShape(self, input_handle: OutputLike, /, *, shape_type: DTypeLike, name: str | None = None) -> Output:
        """The shape of the elements of the given list, as a tensor."""
    def TensorListFromTensor(self, tensor: TensorLike, element_shape: TensorLike, /, *, element_dtype: DTypeLike | None = None, shape_type: DTypeLike | None = None, name: str | None = None) -> Output:
        """Creates a TensorList which, when stacked, has the value of `tensor`."""
    def TensorListGather(self, input_handle: OutputLike, indices: TensorLike, element_shape: TensorLike, /, *, element_dtype: DTypeLike, name: str | None = None) -> Output:
        """Creates a Tensor by indexing into the TensorList."""
    def TensorListGetItem(self, input_handle: OutputLike, index: TensorLike, element_shape: TensorLike, /, *, element_dtype: DTypeLike, Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns the item in the list with the given index."""
    def TensorListLength(self, input_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the number of tensors in the input tensor list."""
    def TensorListPopBack(self, input_handle: OutputLike, element_shape: TensorLike, /, *, element_dtype: DTypeLike, name: str | None = None) -> tuple[Output, Output]:
        """Returns the last element of the input list as well as a list with all but that element."""
    def TensorListPushBack(self, input_handle: OutputLike, tensor: TensorLike, /, *, element_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns a list which has the passed-in `Tensor` as last element and the other elements of the given list in `input_handle`."""
    def TensorListPushBackBatch(self, input_handles: OutputLike, tensor: TensorLike, /, *, element_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorListPushBackBatch and return the Output."""
    def TensorListReserve(self, element_shape: TensorLike, num_elements: TensorLike, /, *, element_dtype: DTypeLike, shape_type: DTypeLike | None = None, name: str | None = None) -> Output:
        """List of the given size with empty elements."""
    def TensorListResize(self, input_handle: OutputLike, size: TensorLike, /, *, name: str | None = None) -> Output:
        """Resizes the list."""
    def TensorListScatter(self, tensor: TensorLike, indices: TensorLike, element_shape: TensorLike, /, *, element_dtype: DTypeLike | None = None, shape_type: DTypeLike | None = None, name: str | None = None) -> Output:
        """Creates a TensorList by indexing into a Tensor."""
    def TensorListScatterIntoExistingList(self, input_handle: OutputLike, tensor: TensorLike, indices: TensorLike, /, *, element_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Scatters tensor at indices in an input list."""
    def TensorListScatterV2(self, tensor: TensorLike, indices: TensorLike, element_shape: TensorLike, num_elements: TensorLike, /, *, element_dtype: DTypeLike | None = None, shape_type: DTypeLike | None = None, name: str | None = None) -> Output:
        """Creates a TensorList by indexing into a Tensor."""
    def TensorListSetItem(self, input_handle: OutputLike, index: TensorLike, item: TensorLike, /, *, element_dtype: DTypeLike | None = None, resize_if_index_out_of_bounds: bool = False, name: str | None = None) -> Output:
        """Sets the index-th position of the list to contain the given tensor."""
    def TensorListSplit(self, tensor: TensorLike, element_shape: TensorLike, lengths: TensorLike, /, *, element_dtype: DTypeLike | None = None, shape_type: DTypeLike | None = None, name: str | None = None) -> Output:
        """Splits a tensor into a list."""
    def TensorListStack(self, input_handle: OutputLike, element_shape: TensorLike, /, *, element_dtype: DTypeLike, num_elements: int = -1, name: str | None = None) -> Output:
        """Stacks all tensors in the list."""
    def TensorMapErase(self, input_handle: OutputLike, key: TensorLike, /, *, value_dtype: DTypeLike, key_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns a tensor map with item from given key erased."""
    def TensorMapHasKey(self, input_handle: OutputLike, key: TensorLike, /, *, key_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns whether the given key exists in the map."""
    def TensorMapInsert(self, input_handle: OutputLike, key: TensorLike, value: TensorLike, /, *, key_dtype: DTypeLike | None = None, value_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns a map that is the 'input_handle' with the given key-value pair inserted."""
    def TensorMapLookup(self, input_handle: OutputLike, key: TensorLike, /, *, value_dtype: DTypeLike, key_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the value from a given key in a tensor map."""
    def TensorMapSize(self, input_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Returns the number of tensors in the input tensor map."""
    def TensorMapStackKeys(self, input_handle: OutputLike, /, *, key_dtype: DTypeLike, name: str | None = None) -> Output:
        """Returns a Tensor stack of all keys in a tensor map."""
    def TensorScatterAdd(self, tensor: TensorLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Adds sparse `updates` to an existing tensor according to `indices`."""
    def TensorScatterMax(self, tensor: TensorLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Apply a sparse update to a tensor taking the element-wise maximum."""
    def TensorScatterMin(self, tensor: TensorLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TensorScatterMin and return the Output."""
    def TensorScatterSub(self, tensor: TensorLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Subtracts sparse `updates` from an existing tensor according to `indices`."""
    def TensorScatterUpdate(self, tensor: TensorLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Scatter `updates` into an existing tensor according to `indices`."""
    def TensorSliceDataset(self, components: Sequence[TensorLike], /, *, output_shapes: Sequence[ShapeLike], Toutput_types: Sequence[DTypeLike] | None = None, is_files: bool = False, metadata: str | bytes = '', replicate_on_split: bool = False, name: str | None = None) -> Output:
        """Creates a dataset that emits each dim-0 slice of `components` once."""
    def TensorStridedSliceUpdate(self, input: TensorLike, begin: TensorLike, end: TensorLike, strides: TensorLike, value: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Output:
        """Assign `value` to the sliced l-value reference of `input`."""
    def TensorSummary(self, tensor: TensorLike, /, *, T: DTypeLike | None = None, description: str | bytes = '', labels: Sequence[str | bytes] = ..., display_name: str | bytes = '', name: str | None = None) -> Output:
        """Outputs a `Summary` protocol buffer with a tensor."""
    def TensorSummaryV2(self, tag: TensorLike, tensor: TensorLike, serialized_summary_metadata: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Outputs a `Summary` protocol buffer with a tensor and per-plugin data."""
    def TestAttr(self, *, T: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type TestAttr and return the Output."""
    def TestStringOutput(self, input: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TestStringOutput and return a tuple of Outputs."""
    def TextLineDataset(self, filenames: TensorLike, compression_type: TensorLike, buffer_size: TensorLike, /, *, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that emits the lines of one or more text files."""
    def TextLineReader(self, *, skip_header_lines: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A Reader that outputs the lines of a file delimited by '\\n'."""
    def TextLineReaderV2(self, *, skip_header_lines: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A Reader that outputs the lines of a file delimited by '\\n'."""
    def ThreadPoolDataset(self, input_dataset: OutputLike, thread_pool: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Creates a dataset that uses a custom thread pool to compute `input_dataset`."""
    def ThreadPoolHandle(self, *, num_threads: int, display_name: str | bytes, max_intra_op_parallelism: int = 1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that uses a custom thread pool to compute `input_dataset`."""
    def ThreadUnsafeUnigramCandidateSampler(self, true_classes: TensorLike, /, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Generates labels for candidate sampling with a learned unigram distribution."""
    def Tile(self, input: TensorLike, multiples: TensorLike, /, *, T: DTypeLike | None = None, Tmultiples: DTypeLike = ..., name: str | None = None) -> Output:
        """Constructs a tensor by tiling a given tensor."""
    def TileGrad(self, input: TensorLike, multiples: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns the gradient of `Tile`."""
    def Timestamp(self, *, name: str | None = None) -> Output:
        """Provides the time since epoch in seconds."""
    def ToBool(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Converts a tensor to a scalar predicate."""
    def TopK(self, input: TensorLike, /, *, k: int, sorted: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Finds values and indices of the `k` largest elements for the last dimension."""
    def TopKUnique(self, input: TensorLike, /, *, k: int, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TopKUnique and return a tuple of Outputs."""
    def TopKV2(self, input: TensorLike, k: TensorLike, /, *, sorted: bool = True, T: DTypeLike | None = None, Tk: DTypeLike = ..., index_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Finds values and indices of the `k` largest elements for the last dimension."""
    def TopKWithUnique(self, input: TensorLike, /, *, k: int, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TopKWithUnique and return a tuple of Outputs."""
    def TpuHandleToProtoKey(self, uid: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type TpuHandleToProtoKey and return the Output."""
    def Transpose(self, x: TensorLike, perm: TensorLike, /, *, T: DTypeLike | None = None, Tperm: DTypeLike = ..., name: str | None = None) -> Output:
        """Shuffle dimensions of x according to a permutation."""
    def TridiagonalMatMul(self, superdiag: TensorLike, maindiag: TensorLike, subdiag: TensorLike, rhs: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Calculate product with tridiagonal matrix."""
    def TridiagonalSolve(self, diagonals: TensorLike, rhs: TensorLike, /, *, partial_pivoting: bool = True, perturb_singular: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Solves tridiagonal systems of equations."""
    def TruncateDiv(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns x / y element-wise, rounded towards zero."""
    def TruncateMod(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns element-wise remainder of division."""
    def TruncatedNormal(self, shape: TensorLike, /, *, dtype: DTypeLike, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Outputs random values from a truncated normal distribution."""
    def TwoFloatInputs(self, a: TensorLike, b: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type TwoFloatInputs and return the Node."""
    def TwoFloatInputsFloatOutput(self, a: TensorLike, b: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type TwoFloatInputsFloatOutput and return the Output."""
    def TwoFloatInputsIntOutput(self, a: TensorLike, b: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type TwoFloatInputsIntOutput and return the Output."""
    def TwoFloatOutputs(self, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TwoFloatOutputs and return a tuple of Outputs."""
    def TwoIntInputs(self, a: TensorLike, b: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type TwoIntInputs and return the Node."""
    def TwoIntOutputs(self, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TwoIntOutputs and return a tuple of Outputs."""
    def TwoRefsIn(self, a: OutputLike, b: OutputLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type TwoRefsIn and return the Node."""
    def TypeList(self, a: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Add a node of type TypeList and return the Node."""
    def TypeListRestrict(self, a: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Add a node of type TypeListRestrict and return the Node."""
    def TypeListTwice(self, a: Sequence[TensorLike], b: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Add a node of type TypeListTwice and return the Node."""
    def Unary(self, a: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Unary and return the Output."""
    def Unbatch(self, batched_tensor: TensorLike, batch_index: TensorLike, id: TensorLike, /, *, timeout_micros: int, container: str | bytes = '', shared_name: str | bytes = '', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Reverses the operation of Batch for a single output Tensor."""
    def UnbatchDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """A dataset that splits the elements of its input into multiple elements."""
    def UnbatchGrad(self, original_input: TensorLike, batch_index: TensorLike, grad: TensorLike, id: TensorLike, /, *, container: str | bytes = '', shared_name: str | bytes = '', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Gradient of Unbatch."""
    def UncompressElement(self, compressed: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Uncompresses a compressed dataset element."""
    def UnicodeDecode(self, input: TensorLike, /, *, input_encoding: str | bytes, errors: Literal['strict', 'replace', 'ignore'] | bytes = 'replace', replacement_char: int = 65533, replace_control_characters: bool = False, Tsplits: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Decodes each string in `input` into a sequence of Unicode code points."""
    def UnicodeDecodeWithOffsets(self, input: TensorLike, /, *, input_encoding: str | bytes, errors: Literal['strict', 'replace', 'ignore'] | bytes = 'replace', replacement_char: int = 65533, replace_control_characters: bool = False, Tsplits: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Decodes each string in `input` into a sequence of Unicode code points."""
    def UnicodeEncode(self, input_values: TensorLike, input_splits: TensorLike, /, *, output_encoding: Literal['UTF-8', 'UTF-16-BE', 'UTF-32-BE'] | bytes, errors: Literal['ignore', 'replace', 'strict'] | bytes = 'replace', replacement_char: int = 65533, Tsplits: DTypeLike = ..., name: str | None = None) -> Output:
        """Encode a tensor of ints into unicode strings."""
    def UnicodeScript(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Determine the script codes of a given tensor of Unicode integer code points."""
    def UnicodeTranscode(self, input: TensorLike, /, *, input_encoding: str | bytes, output_encoding: Literal['UTF-8', 'UTF-16-BE', 'UTF-32-BE'] | bytes, errors: Literal['strict', 'replace', 'ignore'] | bytes = 'replace', replacement_char: int = 65533, replace_control_characters: bool = False, name: str | None = None) -> Output:
        """Transcode the input text from a source encoding to a destination encoding."""
    def UniformCandidateSampler(self, true_classes: TensorLike, /, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Generates labels for candidate sampling with a uniform distribution."""
    def UniformDequantize(self, input: TensorLike, scales: TensorLike, zero_points: TensorLike, /, *, Tout: DTypeLike, quantization_min_val: int, quantization_max_val: int, Tin: DTypeLike | None = None, quantization_axis: int = -1, name: str | None = None) -> Output:
        """Perform dequantization on the quantized Tensor `input`."""
    def UniformQuantize(self, input: TensorLike, scales: TensorLike, zero_points: TensorLike, /, *, Tout: DTypeLike, quantization_min_val: int, quantization_max_val: int, Tin: DTypeLike | None = None, quantization_axis: int = -1, name: str | None = None) -> Output:
        """Perform quantization on Tensor `input`."""
    def UniformQuantizedAdd(self, lhs: TensorLike, rhs: TensorLike, lhs_scales: TensorLike, lhs_zero_points: TensorLike, rhs_scales: TensorLike, rhs_zero_points: TensorLike, output_scales: TensorLike, output_zero_points: TensorLike, /, *, lhs_quantization_min_val: int, lhs_quantization_max_val: int, rhs_quantization_min_val: int, rhs_quantization_max_val: int, output_quantization_min_val: int, output_quantization_max_val: int, lhs_quantization_axis: int = -1, rhs_quantization_axis: int = -1, output_quantization_axis: int = -1, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Perform quantized add of quantized Tensor `lhs` and quantized Tensor `rhs` to make quantized `output`."""
    def UniformQuantizedClipByValue(self, operand: TensorLike, min: TensorLike, max: TensorLike, scales: TensorLike, zero_points: TensorLike, /, *, quantization_min_val: int, quantization_max_val: int, T: DTypeLike | None = None, quantization_axis: int = -1, name: str | None = None) -> Output:
        """Perform clip by value on the quantized Tensor `operand`."""
    def UniformQuantizedConvolution(self, lhs: TensorLike, rhs: TensorLike, lhs_scales: TensorLike, lhs_zero_points: TensorLike, rhs_scales: TensorLike, rhs_zero_points: TensorLike, output_scales: TensorLike, output_zero_points: TensorLike, /, *, Tout: DTypeLike, padding: str | bytes, lhs_quantization_min_val: int, lhs_quantization_max_val: int, rhs_quantization_min_val: int, rhs_quantization_max_val: int, output_quantization_min_val: int, output_quantization_max_val: int, Tin: DTypeLike | None = None, window_strides: Sequence[int] = ..., explicit_padding: Sequence[int] = ..., lhs_dilation: Sequence[int] = ..., rhs_dilation: Sequence[int] = ..., batch_group_count: int = 1, feature_group_count: int = 1, dimension_numbers: str | bytes = '', lhs_quantization_axis: int = -1, rhs_quantization_axis: int = -1, output_quantization_axis: int = -1, name: str | None = None) -> Output:
        """Perform quantized convolution of quantized Tensor `lhs` and quantized Tensor `rhs`. to make quantized `output`."""
    def UniformQuantizedConvolutionHybrid(self, lhs: TensorLike, rhs: TensorLike, rhs_scales: TensorLike, rhs_zero_points: TensorLike, /, *, Tout: DTypeLike, padding: str | bytes, rhs_quantization_min_val: int, rhs_quantization_max_val: int, Tlhs: DTypeLike | None = None, Trhs: DTypeLike | None = None, window_strides: Sequence[int] = ..., explicit_padding: Sequence[int] = ..., lhs_dilation: Sequence[int] = ..., rhs_dilation: Sequence[int] = ..., batch_group_count: int = 1, feature_group_count: int = 1, dimension_numbers: str | bytes = '', rhs_quantization_axis: int = -1, name: str | None = None) -> Output:
        """Perform hybrid quantized convolution of float Tensor `lhs` and quantized Tensor `rhs`."""
    def UniformQuantizedDot(self, lhs: TensorLike, rhs: TensorLike, lhs_scales: TensorLike, lhs_zero_points: TensorLike, rhs_scales: TensorLike, rhs_zero_points: TensorLike, output_scales: TensorLike, output_zero_points: TensorLike, /, *, Tout: DTypeLike, lhs_quantization_min_val: int, lhs_quantization_max_val: int, rhs_quantization_min_val: int, rhs_quantization_max_val: int, output_quantization_min_val: int, output_quantization_max_val: int, Tin: DTypeLike | None = None, lhs_quantization_axis: int = -1, rhs_quantization_axis: int = -1, output_quantization_axis: int = -1, name: str | None = None) -> Output:
        """Perform quantized dot of quantized Tensor `lhs` and quantized Tensor `rhs` to make quantized `output`."""
    def UniformQuantizedDotHybrid(self, lhs: TensorLike, rhs: TensorLike, rhs_scales: TensorLike, rhs_zero_points: TensorLike, /, *, Tout: DTypeLike, rhs_quantization_min_val: int, rhs_quantization_max_val: int, Tlhs: DTypeLike | None = None, Trhs: DTypeLike | None = None, rhs_quantization_axis: int = -1, name: str | None = None) -> Output:
        """Perform hybrid quantized dot of float Tensor `lhs` and quantized Tensor `rhs`."""
    def UniformRequantize(self, input: TensorLike, input_scales: TensorLike, input_zero_points: TensorLike, output_scales: TensorLike, output_zero_points: TensorLike, /, *, Tout: DTypeLike, input_quantization_min_val: int, input_quantization_max_val: int, output_quantization_min_val: int, output_quantization_max_val: int, Tin: DTypeLike | None = None, input_quantization_axis: int = -1, output_quantization_axis: int = -1, name: str | None = None) -> Output:
        """Given quantized tensor `input`, requantize it with new quantization parameters."""
    def Unique(self, x: TensorLike, /, *, T: DTypeLike | None = None, out_idx: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Finds unique elements in a 1-D tensor."""
    def UniqueDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that contains the unique elements of `input_dataset`."""
    def UniqueV2(self, x: TensorLike, axis: TensorLike, /, *, T: DTypeLike | None = None, Taxis: DTypeLike = ..., out_idx: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Finds unique elements along an axis of a tensor."""
    def UniqueWithCounts(self, x: TensorLike, /, *, T: DTypeLike | None = None, out_idx: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Finds unique elements in a 1-D tensor."""
    def UniqueWithCountsV2(self, x: TensorLike, axis: TensorLike, /, *, T: DTypeLike | None = None, Taxis: DTypeLike = ..., out_idx: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Finds unique elements along an axis of a tensor."""
    def Unpack(self, value: TensorLike, /, *, num: int, T: DTypeLike | None = None, axis: int = 0, name: str | None = None) -> OutputsOrNode:
        """Unpacks a given dimension of a rank-`R` tensor into `num` rank-`(R-1)` tensors."""
    def UnravelIndex(self, indices: TensorLike, dims: TensorLike, /, *, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Converts an array of flat indices into a tuple of coordinate arrays."""
    def UnsortedSegmentJoin(self, inputs: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, separator: str | bytes = '', Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type UnsortedSegmentJoin and return the Output."""
    def UnsortedSegmentMax(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the maximum along segments of a tensor."""
    def UnsortedSegmentMin(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the minimum along segments of a tensor."""
    def UnsortedSegmentProd(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the product along segments of a tensor."""
    def UnsortedSegmentSum(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Computes the sum along segments of a tensor."""
    def Unstage(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Op is similar to a lightweight Dequeue."""
    def UnwrapDatasetVariant(self, input_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type UnwrapDatasetVariant and return the Output."""
    def UpdateTaskIdAndGlobalCoreArray(self, tpu_task_id_to_shard_id: Sequence[TensorLike], /, *, task_count: int | None = None, name: str | None = None) -> Node:
        """Add a node of type UpdateTaskIdAndGlobalCoreArray and return the Node."""
    def UpperBound(self, sorted_inputs: TensorLike, values: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Applies upper_bound(sorted_search_values, values) along each row."""
    def VarHandleOp(self, *, dtype: DTypeLike, shape: ShapeLike, container: str | bytes = '', shared_name: str | bytes = '', debug_name: str | bytes = '', allowed_devices: Sequence[str | bytes] = ..., name: str | None = None) -> Output:
        """Creates a handle to a Variable resource."""
    def VarIsInitializedOp(self, resource: OutputLike, /, *, name: str | None = None) -> Output:
        """Checks whether a resource handle-based variable has been initialized."""
    def Variable(self, *, shape: ShapeLike, dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Use VariableV2 instead."""
    def VariableShape(self, input: OutputLike, /, *, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns the shape of the variable pointed to by `resource`."""
    def VariableV2(self, *, shape: ShapeLike, dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Holds state in the form of a tensor that persists across steps."""
    def WeightedFlatMapDataset(self, input_datasets: Sequence[OutputLike], weights: Sequence[TensorLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, M: int | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type WeightedFlatMapDataset and return the Output."""
    def Where(self, input: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Returns locations of nonzero / true values in a tensor."""
    def While(self, input: Sequence[TensorLike], /, *, cond: FuncRef | str, body: FuncRef | str, T: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., parallel_iterations: int = 10, name: str | None = None) -> OutputsOrNode:
        """Output = input; While (Cond(output)) { output = Body(output) }."""
    def WholeFileReader(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A Reader that outputs the entire contents of a file as a value."""
    def WholeFileReaderV2(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """A Reader that outputs the entire contents of a file as a value."""
    def WindowDataset(self, input_dataset: OutputLike, size: TensorLike, shift: TensorLike, stride: TensorLike, drop_remainder: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Combines (nests of) input elements into a dataset of (nests of) windows."""
    def WindowOp(self, inputs: Sequence[TensorLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tinputs: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type WindowOp and return the Output."""
    def WorkerHeartbeat(self, request: TensorLike, /, *, name: str | None = None) -> Output:
        """Worker heartbeat op."""
    def WrapDatasetVariant(self, input_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type WrapDatasetVariant and return the Output."""
    def WriteAudioSummary(self, writer: OutputLike, step: TensorLike, tag: TensorLike, tensor: TensorLike, sample_rate: TensorLike, /, *, max_outputs: int = 3, name: str | None = None) -> Node:
        """Writes an audio summary."""
    def WriteFile(self, filename: TensorLike, contents: TensorLike, /, *, name: str | None = None) -> Node:
        """Writes `contents` to the file at input `filename`."""
    def WriteGraphSummary(self, writer: OutputLike, step: TensorLike, tensor: TensorLike, /, *, name: str | None = None) -> Node:
        """Writes a graph summary."""
    def WriteHistogramSummary(self, writer: OutputLike, step: TensorLike, tag: TensorLike, values: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Node:
        """Writes a histogram summary."""
    def WriteImageSummary(self, writer: OutputLike, step: TensorLike, tag: TensorLike, tensor: TensorLike, bad_color: TensorLike, /, *, max_images: int = 3, T: DTypeLike = ..., name: str | None = None) -> Node:
        """Writes an image summary."""
    def WriteRawProtoSummary(self, writer: OutputLike, step: TensorLike, tensor: TensorLike, /, *, name: str | None = None) -> Node:
        """Writes a serialized proto summary."""
    def WriteScalarSummary(self, writer: OutputLike, step: TensorLike, tag: TensorLike, value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """Writes a scalar summary."""
    def WriteSummary(self, writer: OutputLike, step: TensorLike, tensor: TensorLike, tag: TensorLike, summary_metadata: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """Writes a tensor summary."""
    def Xdivy(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns 0 if x == 0, and x / y otherwise, elementwise."""
    def XlaAllReduce(self, input: TensorLike, group_assignment: TensorLike, /, *, reduce_op: Literal['Min', 'Max', 'Mul', 'Add', 'Mean'] | bytes, mode: Literal['CrossReplica', 'CrossReplicaAndPartition'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaAllReduce and return the Output."""
    def XlaBroadcastHelper(self, lhs: TensorLike, rhs: TensorLike, broadcast_dims: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type XlaBroadcastHelper and return a tuple of Outputs."""
    def XlaCallModule(self, args: Sequence[TensorLike], /, *, version: int, module: str | bytes, Sout: Sequence[ShapeLike], Tout: Sequence[DTypeLike], Tin: Sequence[DTypeLike] | None = None, dim_args_spec: Sequence[str | bytes] = ..., platforms: Sequence[str | bytes] = ..., function_list: Sequence[FuncRef | str] = ..., has_token_input_output: bool = False, disabled_checks: Sequence[str | bytes] = ..., use_shardy_partitioner: bool = False, name: str | None = None) -> OutputsOrNode:
        """Add a node of type XlaCallModule and return a tuple of Outputs."""
    def XlaClusterOutput(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaClusterOutput and return the Output."""
    def XlaConcatND(self, inputs: Sequence[TensorLike], /, *, num_concats: Sequence[int], T: DTypeLike | None = None, N: int | None = None, paddings: Sequence[int] = ..., name: str | None = None) -> Output:
        """Concats input tensor across all dimensions."""
    def XlaConv(self, lhs: TensorLike, rhs: TensorLike, window_strides: TensorLike, padding: TensorLike, lhs_dilation: TensorLike, rhs_dilation: TensorLike, feature_group_count: TensorLike, /, *, dimension_numbers: str | bytes, precision_config: str | bytes, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaConv and return the Output."""
    def XlaConvV2(self, lhs: TensorLike, rhs: TensorLike, window_strides: TensorLike, padding: TensorLike, lhs_dilation: TensorLike, rhs_dilation: TensorLike, feature_group_count: TensorLike, /, *, dimension_numbers: str | bytes, precision_config: str | bytes, preferred_element_type: DTypeLike, LhsT: DTypeLike | None = None, RhsT: DTypeLike | None = None, Tindices: DTypeLike | None = None, batch_group_count: int = 1, name: str | None = None) -> Output:
        """Add a node of type XlaConvV2 and return the Output."""
    def XlaCustomCall(self, args: Sequence[TensorLike], /, *, target_name: str | bytes, backend_config: str | bytes, dtype: DTypeLike, shape: ShapeLike, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaCustomCall and return the Output."""
    def XlaCustomCallV2(self, operands: Sequence[TensorLike], /, *, call_target_name: str | bytes, backend_config: str | bytes, has_side_effect: bool, result_dtypes: Sequence[DTypeLike], result_shapes: Sequence[ShapeLike], operand_dtypes: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type XlaCustomCallV2 and return a tuple of Outputs."""
    def XlaDequantize(self, input: TensorLike, /, *, min_range: float, max_range: float, mode: str | bytes, transpose_output: bool, name: str | None = None) -> Output:
        """Add a node of type XlaDequantize and return the Output."""
    def XlaDot(self, lhs: TensorLike, rhs: TensorLike, /, *, dimension_numbers: str | bytes, precision_config: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaDot and return the Output."""
    def XlaDotV2(self, lhs: TensorLike, rhs: TensorLike, /, *, dimension_numbers: str | bytes, precision_config: str | bytes, preferred_element_type: DTypeLike, LhsT: DTypeLike | None = None, RhsT: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaDotV2 and return the Output."""
    def XlaDynamicSlice(self, input: TensorLike, start_indices: TensorLike, size_indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaDynamicSlice and return the Output."""
    def XlaDynamicUpdateSlice(self, input: TensorLike, update: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaDynamicUpdateSlice and return the Output."""
    def XlaEinsum(self, a: TensorLike, b: TensorLike, /, *, equation: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaEinsum and return the Output."""
    def XlaGather(self, operand: TensorLike, start_indices: TensorLike, slice_sizes: TensorLike, /, *, dimension_numbers: str | bytes, indices_are_sorted: bool, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaGather and return the Output."""
    def XlaHostCompute(self, inputs: Sequence[TensorLike], /, *, Toutputs: Sequence[DTypeLike], ancestors: Sequence[str | bytes], shapes: Sequence[ShapeLike], shape_inference_graph: FuncRef | str, key: str | bytes, Tinputs: Sequence[DTypeLike] | None = None, send_key: str | bytes = '', recv_key: str | bytes = '', cost_estimate_ns: int = 1000000, tpu_core: int = 0, name: str | None = None) -> OutputsOrNode:
        """Add a node of type XlaHostCompute and return a tuple of Outputs."""
    def XlaIf(self, cond: TensorLike, inputs: Sequence[TensorLike], /, *, then_branch: FuncRef | str, else_branch: FuncRef | str, Tout: Sequence[DTypeLike], Tcond: DTypeLike | None = None, Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type XlaIf and return a tuple of Outputs."""
    def XlaKeyValueSort(self, keys: TensorLike, values: TensorLike, /, *, K: DTypeLike | None = None, V: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type XlaKeyValueSort and return a tuple of Outputs."""
    def XlaLaunch(self, constants: Sequence[TensorLike], args: Sequence[TensorLike], resources: Sequence[OutputLike], /, *, Tresults: Sequence[DTypeLike], function: FuncRef | str, Tconstants: Sequence[DTypeLike] | None = None, Targs: Sequence[DTypeLike] | None = None, Nresources: int | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type XlaLaunch and return a tuple of Outputs."""
    def XlaLaunchV2(self, args: Sequence[TensorLike], /, *, Tresults: Sequence[DTypeLike], constants: Sequence[int], resources: Sequence[int], function: FuncRef | str, Targs: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type XlaLaunchV2 and return a tuple of Outputs."""
    def XlaOptimizationBarrier(self, input: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type XlaOptimizationBarrier and return a tuple of Outputs."""
    def XlaPad(self, input: TensorLike, padding_value: TensorLike, padding_low: TensorLike, padding_high: TensorLike, padding_interior: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaPad and return the Output."""
    def XlaRecv(self, *, dtype: DTypeLike, tensor_name: str | bytes, shape: ShapeLike, name: str | None = None) -> Output:
        """Add a node of type XlaRecv and return the Output."""
    def XlaRecvFromHost(self, *, Toutput: DTypeLike, shape: ShapeLike, key: str | bytes, name: str | None = None) -> Output:
        """Add a node of type XlaRecvFromHost and return the Output."""
    def XlaRecvTPUEmbeddingActivations(self, deduplication_data: OutputLike, /, *, num_tables: int, config: str | bytes, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type XlaRecvTPUEmbeddingActivations and return a tuple of Outputs."""
    def XlaRecvTPUEmbeddingActivationsV2(self, deduplication_data: OutputLike, /, *, num_tables: int, config: str | bytes, embedding_partitions: str | bytes, hbm_buffers_config: str | bytes, tpu_topology: str | bytes, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type XlaRecvTPUEmbeddingActivationsV2 and return a tuple of Outputs."""
    def XlaRecvTPUEmbeddingDeduplicationData(self, *, config: str | bytes, name: str | None = None) -> Output:
        """Add a node of type XlaRecvTPUEmbeddingDeduplicationData and return the Output."""
    def XlaRecvTPUEmbeddingDeduplicationDataV2(self, *, config: str | bytes, embedding_partitions: str | bytes, hbm_buffers_config: str | bytes, tpu_topology: str | bytes, name: str | None = None) -> Output:
        """Add a node of type XlaRecvTPUEmbeddingDeduplicationDataV2 and return the Output."""
    def XlaReduce(self, input: TensorLike, init_value: TensorLike, /, *, dimensions_to_reduce: Sequence[int], reducer: FuncRef | str, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaReduce and return the Output."""
    def XlaReducePrecision(self, operand: TensorLike, /, *, exponent_bits: int, mantissa_bits: int, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaReducePrecision and return the Output."""
    def XlaReduceScatter(self, input: TensorLike, group_assignment: TensorLike, scatter_dimension: TensorLike, /, *, reduce_op: Literal['Min', 'Max', 'Mul', 'Add', 'Mean'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaReduceScatter and return the Output."""
    def XlaReduceWindow(self, input: TensorLike, init_value: TensorLike, window_dimensions: TensorLike, window_strides: TensorLike, base_dilations: TensorLike, window_dilations: TensorLike, padding: TensorLike, /, *, computation: FuncRef | str, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaReduceWindow and return the Output."""
    def XlaRemoveDynamicDimensionSize(self, input: TensorLike, dim_index: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaRemoveDynamicDimensionSize and return the Output."""
    def XlaReplicaId(self, *, name: str | None = None) -> Output:
        """Add a node of type XlaReplicaId and return the Output."""
    def XlaRngBitGenerator(self, algorithm: TensorLike, initial_state: TensorLike, shape: TensorLike, /, *, dtype: DTypeLike = ..., Tshape: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type XlaRngBitGenerator and return a tuple of Outputs."""
    def XlaScatter(self, operand: TensorLike, scatter_indices: TensorLike, updates: TensorLike, /, *, update_computation: FuncRef | str, dimension_numbers: str | bytes, indices_are_sorted: bool, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaScatter and return the Output."""
    def XlaSelectAndScatter(self, operand: TensorLike, window_dimensions: TensorLike, window_strides: TensorLike, padding: TensorLike, source: TensorLike, init_value: TensorLike, /, *, select: FuncRef | str, scatter: FuncRef | str, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaSelectAndScatter and return the Output."""
    def XlaSelfAdjointEig(self, a: TensorLike, /, *, lower: bool, max_iter: int, epsilon: float, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type XlaSelfAdjointEig and return a tuple of Outputs."""
    def XlaSend(self, tensor: TensorLike, /, *, tensor_name: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type XlaSend and return the Node."""
    def XlaSendTPUEmbeddingGradients(self, gradients: Sequence[TensorLike], learning_rates: Sequence[TensorLike], deduplication_data: OutputLike, /, *, config: str | bytes, NumTables: int | None = None, NumLearningRateTags: int = 0, name: str | None = None) -> Node:
        """Add a node of type XlaSendTPUEmbeddingGradients and return the Node."""
    def XlaSendTPUEmbeddingGradientsV2(self, gradients: Sequence[TensorLike], learning_rates: Sequence[TensorLike], deduplication_data: OutputLike, /, *, config: str | bytes, embedding_partitions: str | bytes, hbm_buffers_config: str | bytes, tpu_topology: str | bytes, NumTables: int | None = None, NumLearningRateTags: int = 0, name: str | None = None) -> Node:
        """Add a node of type XlaSendTPUEmbeddingGradientsV2 and return the Node."""
    def XlaSendToHost(self, input: TensorLike, /, *, key: str | bytes, Tinput: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type XlaSendToHost and return the Node."""
    def XlaSetBound(self, input: TensorLike, bound: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type XlaSetBound and return the Output."""
    def XlaSetDynamicDimensionSize(self, input: TensorLike, dim_index: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaSetDynamicDimensionSize and return the Output."""
    def XlaSharding(self, input: TensorLike, /, *, T: DTypeLike | None = None, sharding: str | bytes = '', unspecified_dims: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type XlaSharding and return the Output."""
    def XlaSort(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaSort and return the Output."""
    def XlaSparseActivationsUnstack(self, stacked_activations: TensorLike, /, *, num_tables: int, sample_counts: Sequence[int], features: Sequence[int], interleaved: bool, dtype: DTypeLike, input_dtype: DTypeLike | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type XlaSparseActivationsUnstack and return a tuple of Outputs."""
    def XlaSparseCoreAdagrad(self, indices: TensorLike, gradient: TensorLike, learning_rate: TensorLike, accumulator: TensorLike, embedding_table: TensorLike, /, *, feature_width: int, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type XlaSparseCoreAdagrad and return a tuple of Outputs."""
    def XlaSparseCoreAdagradMomentum(self, indices: TensorLike, gradient: TensorLike, learning_rate: TensorLike, beta_1: TensorLike, epsilon: TensorLike, accumulator: TensorLike, momentum: TensorLike, embedding_table: TensorLike, /, *, feature_width: int, use_nesterov: bool, beta_2: float, exponent: float, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type XlaSparseCoreAdagradMomentum and return a tuple of Outputs."""
    def XlaSparseCoreAdam(self, embedding_table: TensorLike, indices: TensorLike, gradient: TensorLike, learning_rate: TensorLike, momentum: TensorLike, velocity: TensorLike, beta_1: TensorLike, beta_2: TensorLike, epsilon: TensorLike, /, *, feature_width: int, use_sum_inside_sqrt: bool, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type XlaSparseCoreAdam and return a tuple of Outputs."""
    def XlaSparseCoreFtrl(self, embedding_table: TensorLike, accumulator: TensorLike, linear: TensorLike, learning_rate: TensorLike, indices: TensorLike, gradient: TensorLike, beta: TensorLike, learning_rate_power: TensorLike, l2_regularization_strength: TensorLike, /, *, feature_width: int, multiply_linear_by_learning_rate: bool, l1_regularization_strength: float, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type XlaSparseCoreFtrl and return a tuple of Outputs."""
    def XlaSparseCoreSgd(self, indices: TensorLike, gradient: TensorLike, learning_rate: TensorLike, embedding_table: TensorLike, /, *, feature_width: int, name: str | None = None) -> Output:
        """Add a node of type XlaSparseCoreSgd and return the Output."""
    def XlaSparseDenseMatmul(self, row_ids: TensorLike, col_ids: TensorLike, values: TensorLike, offsets: TensorLike, embedding_table: TensorLike, /, *, max_ids_per_partition: int, max_unique_ids_per_partition: int, input_size: int, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type XlaSparseDenseMatmul and return a tuple of Outputs."""
    def XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradAndCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_pos_ids: TensorLike, sorted_gains: TensorLike, weights: TensorLike, preserved_valencies: TensorLike, preserved_vectors: TensorLike, preserved_weights: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, combiner_weights_learning_rate: TensorLike, embedding_table: TensorLike, accumulator: TensorLike, /, *, max_valency: int, num_weights: int, combiner_table_vjp_computation: FuncRef | str, combiner_weights_vjp_computation: FuncRef | str, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradAndCsrInput and return a tuple of Outputs."""
    def XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradMomentumAndCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_pos_ids: TensorLike, sorted_gains: TensorLike, weights: TensorLike, preserved_valencies: TensorLike, preserved_vectors: TensorLike, preserved_weights: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, combiner_weights_learning_rate: TensorLike, embedding_table: TensorLike, accumulator: TensorLike, momenta: TensorLike, /, *, use_nesterov: bool, exponent: float, beta1: float, beta2: float, epsilon: float, max_valency: int, num_weights: int, combiner_table_vjp_computation: FuncRef | str, combiner_weights_vjp_computation: FuncRef | str, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradMomentumAndCsrInput and return a tuple of Outputs."""
    def XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdamAndCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_pos_ids: TensorLike, sorted_gains: TensorLike, weights: TensorLike, preserved_valencies: TensorLike, preserved_vectors: TensorLike, preserved_weights: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, combiner_weights_learning_rate: TensorLike, embedding_table: TensorLike, momenta: TensorLike, velocity: TensorLike, /, *, use_sum_inside_sqrt: bool, beta1: float, beta2: float, epsilon: float, max_valency: int, num_weights: int, combiner_table_vjp_computation: FuncRef | str, combiner_weights_vjp_computation: FuncRef | str, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdamAndCsrInput and return a tuple of Outputs."""
    def XlaSparseDenseMatmulCustomCombinerOnTcGradWithCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_pos_ids: TensorLike, sorted_gains: TensorLike, weights: TensorLike, preserved_valencies: TensorLike, preserved_vectors: TensorLike, preserved_weights: TensorLike, activation_gradients: TensorLike, tables: Sequence[TensorLike], hyperparameters: Sequence[TensorLike], combiner_weights_learning_rate: TensorLike, /, *, max_valency: int, num_weights: int, combiner_table_vjp_computation: FuncRef | str, combiner_weights_vjp_computation: FuncRef | str, optimizer_custom_computation: FuncRef | str, table_name: str | bytes, N: int | None = None, M: int | None = None, num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type XlaSparseDenseMatmulCustomCombinerOnTcGradWithCsrInput and return a tuple of Outputs."""
    def XlaSparseDenseMatmulCustomCombinerOnTcGradWithFtrlAndCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_pos_ids: TensorLike, sorted_gains: TensorLike, weights: TensorLike, preserved_valencies: TensorLike, preserved_vectors: TensorLike, preserved_weights: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, combiner_weights_learning_rate: TensorLike, embedding_table: TensorLike, accumulator: TensorLike, linear: TensorLike, /, *, multiply_linear_by_learning_rate: bool, beta: float, learning_rate_power: float, l1_regularization_strength: float, l2_regularization_strength: float, max_valency: int, num_weights: int, combiner_table_vjp_computation: FuncRef | str, combiner_weights_vjp_computation: FuncRef | str, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type XlaSparseDenseMatmulCustomCombinerOnTcGradWithFtrlAndCsrInput and return a tuple of Outputs."""
    def XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_pos_ids: TensorLike, sorted_gains: TensorLike, weights: TensorLike, preserved_valencies: TensorLike, preserved_vectors: TensorLike, preserved_weights: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, combiner_weights_learning_rate: TensorLike, embedding_table: TensorLike, /, *, max_valency: int, num_weights: int, combiner_table_vjp_computation: FuncRef | str, combiner_weights_vjp_computation: FuncRef | str, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput and return a tuple of Outputs."""
    def XlaSparseDenseMatmulCustomCombinerOnTcWithCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_pos_ids: TensorLike, sorted_gains: TensorLike, embedding_table: TensorLike, weights: TensorLike, /, *, input_size: int, max_valency: int, num_weights: int, combiner_computation: FuncRef | str, quantization_config_low: float, quantization_config_high: float, quantization_config_num_buckets: int, table_name: str | bytes, num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type XlaSparseDenseMatmulCustomCombinerOnTcWithCsrInput and return a tuple of Outputs."""
    def XlaSparseDenseMatmulGradWithAdagradAndCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, embedding_table: TensorLike, accumulator: TensorLike, num_minibatches_per_physical_sparse_core: TensorLike, /, *, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type XlaSparseDenseMatmulGradWithAdagradAndCsrInput and return a tuple of Outputs."""
    def XlaSparseDenseMatmulGradWithAdagradAndStaticBufferSize(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, embedding_table: TensorLike, accumulator: TensorLike, num_minibatches_per_physical_sparse_core: TensorLike, /, *, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type XlaSparseDenseMatmulGradWithAdagradAndStaticBufferSize and return a tuple of Outputs."""
    def XlaSparseDenseMatmulGradWithAdagradMomentumAndCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, embedding_table: TensorLike, accumulator: TensorLike, momenta: TensorLike, num_minibatches_per_physical_sparse_core: TensorLike, /, *, use_nesterov: bool, exponent: float, beta1: float, beta2: float, epsilon: float, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type XlaSparseDenseMatmulGradWithAdagradMomentumAndCsrInput and return a tuple of Outputs."""
    def XlaSparseDenseMatmulGradWithAdagradMomentumAndStaticBufferSize(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, embedding_table: TensorLike, accumulator: TensorLike, momenta: TensorLike, num_minibatches_per_physical_sparse_core: TensorLike, /, *, use_nesterov: bool, exponent: float, beta1: float, beta2: float, epsilon: float, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type XlaSparseDenseMatmulGradWithAdagradMomentumAndStaticBufferSize and return a tuple of Outputs."""
    def XlaSparseDenseMatmulGradWithAdamAndCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, embedding_table: TensorLike, momenta: TensorLike, velocity: TensorLike, num_minibatches_per_physical_sparse_core: TensorLike, /, *, use_sum_inside_sqrt: bool, beta1: float, beta2: float, epsilon: float, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type XlaSparseDenseMatmulGradWithAdamAndCsrInput and return a tuple of Outputs."""
    def XlaSparseDenseMatmulGradWithAdamAndStaticBufferSize(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, embedding_table: TensorLike, momenta: TensorLike, velocity: TensorLike, num_minibatches_per_physical_sparse_core: TensorLike, /, *, use_sum_inside_sqrt: bool, beta1: float, beta2: float, epsilon: float, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type XlaSparseDenseMatmulGradWithAdamAndStaticBufferSize and return a tuple of Outputs."""
    def XlaSparseDenseMatmulGradWithCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, activation_gradients: TensorLike, tables: Sequence[TensorLike], hyperparameters: Sequence[TensorLike], num_minibatches_per_physical_sparse_core: TensorLike, /, *, custom_computation: FuncRef | str, table_name: str | bytes, N: int | None = None, M: int | None = None, num_sparsecores_per_device: int = -1, T: DTypeLike = ..., name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type XlaSparseDenseMatmulGradWithCsrInput and return a tuple of Outputs."""
    def XlaSparseDenseMatmulGradWithFtrlAndCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, embedding_table: TensorLike, accumulator: TensorLike, linear: TensorLike, num_minibatches_per_physical_sparse_core: TensorLike, /, *, multiply_linear_by_learning_rate: bool, beta: float, learning_rate_power: float, l1_regularization_strength: float, l2_regularization_strength: float, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type XlaSparseDenseMatmulGradWithFtrlAndCsrInput and return a tuple of Outputs."""
    def XlaSparseDenseMatmulGradWithFtrlAndStaticBufferSize(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, embedding_table: TensorLike, accumulator: TensorLike, linear: TensorLike, num_minibatches_per_physical_sparse_core: TensorLike, /, *, multiply_linear_by_learning_rate: bool, beta: float, learning_rate_power: float, l1_regularization_strength: float, l2_regularization_strength: float, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type XlaSparseDenseMatmulGradWithFtrlAndStaticBufferSize and return a tuple of Outputs."""
    def XlaSparseDenseMatmulGradWithSgdAndCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, embedding_table: TensorLike, num_minibatches_per_physical_sparse_core: TensorLike, /, *, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> Output:
        """Add a node of type XlaSparseDenseMatmulGradWithSgdAndCsrInput and return the Output."""
    def XlaSparseDenseMatmulGradWithSgdAndStaticBufferSize(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, activation_gradients: TensorLike, learning_rate: TensorLike, embedding_table: TensorLike, num_minibatches_per_physical_sparse_core: TensorLike, /, *, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str | bytes, clip_weight_min: float = ..., clip_weight_max: float = ..., num_sparsecores_per_device: int = -1, name: str | None = None) -> Output:
        """Add a node of type XlaSparseDenseMatmulGradWithSgdAndStaticBufferSize and return the Output."""
    def XlaSparseDenseMatmulWithCsrInput(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, embedding_table: TensorLike, num_minibatches_per_physical_sparse_core: TensorLike, /, *, input_size: int, quantization_config_low: float, quantization_config_high: float, quantization_config_num_buckets: int, table_name: str | bytes, num_sparsecores_per_device: int = -1, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type XlaSparseDenseMatmulWithCsrInput and return the Output."""
    def XlaSparseDenseMatmulWithStaticBufferSize(self, row_pointers: TensorLike, sorted_sample_ids: TensorLike, sorted_token_ids: TensorLike, sorted_gains: TensorLike, embedding_table: TensorLike, num_minibatches_per_physical_sparse_core: TensorLike, /, *, input_size: int, quantization_config_low: float, quantization_config_high: float, quantization_config_num_buckets: int, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str | bytes, num_sparsecores_per_device: int = -1, name: str | None = None) -> Output:
        """Add a node of type XlaSparseDenseMatmulWithStaticBufferSize and return the Output."""
    def XlaSparseGradientsStack(self, unstacked_gradients: Sequence[TensorLike], /, *, interleaved: bool, dtype: DTypeLike, num_tables: int | None = None, input_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaSparseGradientsStack and return the Output."""
    def XlaSplitND(self, input: TensorLike, /, *, N: int, num_splits: Sequence[int], T: DTypeLike | None = None, paddings: Sequence[int] = ..., name: str | None = None) -> tuple[Output, ...]:
        """Splits input tensor across all dimensions."""
    def XlaSpmdFullToShardShape(self, input: TensorLike, /, *, manual_sharding: str | bytes, T: DTypeLike | None = None, dim: int = -1, unspecified_dims: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type XlaSpmdFullToShardShape and return the Output."""
    def XlaSpmdShardToFullShape(self, input: TensorLike, /, *, manual_sharding: str | bytes, full_shape: ShapeLike, T: DTypeLike | None = None, dim: int = -1, unspecified_dims: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type XlaSpmdShardToFullShape and return the Output."""
    def XlaSvd(self, a: TensorLike, /, *, max_iter: int, epsilon: float, precision_config: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type XlaSvd and return a tuple of Outputs."""
    def XlaVariadicReduce(self, input: Sequence[TensorLike], init_value: Sequence[TensorLike], /, *, dimensions_to_reduce: Sequence[int], reducer: FuncRef | str, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type XlaVariadicReduce and return a tuple of Outputs."""
    def XlaVariadicReduceV2(self, inputs: Sequence[TensorLike], init_values: Sequence[TensorLike], /, *, dimensions_to_reduce: Sequence[int], reducer: FuncRef | str, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type XlaVariadicReduceV2 and return a tuple of Outputs."""
    def XlaVariadicSort(self, inputs: Sequence[TensorLike], dimension: TensorLike, /, *, comparator: FuncRef | str, is_stable: bool, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type XlaVariadicSort and return a tuple of Outputs."""
    def XlaWhile(self, input: Sequence[TensorLike], /, *, cond: FuncRef | str, body: FuncRef | str, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type XlaWhile and return a tuple of Outputs."""
    def Xlog1py(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns 0 if x == 0, and x * log1p(y) otherwise, elementwise."""
    def Xlogy(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns 0 if x == 0, and x * log(y) otherwise, elementwise."""
    def ZerosLike(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Returns a tensor of zeros with the same shape and type as x."""
    def Zeta(self, x: TensorLike, q: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Compute the Hurwitz zeta function \\\\(\\zeta(x, q)\\\\)."""
    def ZipDataset(self, input_datasets: Sequence[OutputLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Creates a dataset that zips together `input_datasets`."""
