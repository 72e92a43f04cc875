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
        """Add a node of type Abort and return the Node."""
    def Abs(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Abs and return the Output."""
    def AccumulateNV2(self, inputs: Sequence[TensorLike], /, *, shape: ShapeLike, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type AccumulateNV2 and return the Output."""
    def AccumulatorApplyGradient(self, handle: OutputLike, local_step: TensorLike, gradient: TensorLike, /, *, dtype: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type AccumulatorApplyGradient and return the Node."""
    def AccumulatorNumAccumulated(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type AccumulatorNumAccumulated and return the Output."""
    def AccumulatorSetGlobalStep(self, handle: OutputLike, new_global_step: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type AccumulatorSetGlobalStep and return the Node."""
    def AccumulatorTakeGradient(self, handle: OutputLike, num_required: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type AccumulatorTakeGradient and return the Output."""
    def Acos(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Acos and return the Output."""
    def Acosh(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Acosh and return the Output."""
    def Add(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Add and return the Output."""
    def AddManySparseToTensorsMap(self, sparse_indices: TensorLike, sparse_values: TensorLike, sparse_shape: TensorLike, /, *, T: DTypeLike | None = None, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type AddManySparseToTensorsMap and return the Output."""
    def AddN(self, inputs: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type AddN and return the Output."""
    def AddSparseToTensorsMap(self, sparse_indices: TensorLike, sparse_values: TensorLike, sparse_shape: TensorLike, /, *, T: DTypeLike | None = None, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type AddSparseToTensorsMap and return the Output."""
    def AddV2(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type AddV2 and return the Output."""
    def AdjustContrast(self, images: TensorLike, contrast_factor: TensorLike, min_value: TensorLike, max_value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type AdjustContrast and return the Output."""
    def AdjustContrastv2(self, images: TensorLike, contrast_factor: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type AdjustContrastv2 and return the Output."""
    def AdjustHue(self, images: TensorLike, delta: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type AdjustHue and return the Output."""
    def AdjustSaturation(self, images: TensorLike, scale: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type AdjustSaturation and return the Output."""
    def All(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type All and return the Output."""
    def AllCandidateSampler(self, true_classes: TensorLike, /, *, num_true: int, num_sampled: int, unique: bool, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type AllCandidateSampler and return a tuple of Outputs."""
    def AllToAll(self, input: TensorLike, group_assignment: TensorLike, /, *, concat_dimension: int, split_dimension: int, split_count: int, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type AllToAll and return the Output."""
    def Angle(self, input: TensorLike, /, *, T: DTypeLike = ..., Tout: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Angle and return the Output."""
    def AnonymousHashTable(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type AnonymousHashTable and return the Output."""
    def AnonymousIterator(self, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type AnonymousIterator and return the Output."""
    def AnonymousIteratorV2(self, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type AnonymousIteratorV2 and return a tuple of Outputs."""
    def AnonymousIteratorV3(self, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type AnonymousIteratorV3 and return the Output."""
    def AnonymousMemoryCache(self, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type AnonymousMemoryCache and return a tuple of Outputs."""
    def AnonymousMultiDeviceIterator(self, *, devices: Sequence[str | bytes], output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type AnonymousMultiDeviceIterator and return a tuple of Outputs."""
    def AnonymousMultiDeviceIteratorV3(self, *, devices: Sequence[str | bytes], output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type AnonymousMultiDeviceIteratorV3 and return the Output."""
    def AnonymousMutableDenseHashTable(self, empty_key: TensorLike, deleted_key: TensorLike, /, *, value_dtype: DTypeLike, key_dtype: DTypeLike | None = None, value_shape: ShapeLike = ..., initial_num_buckets: int = 131072, max_load_factor: float = 0.800000011920929, name: str | None = None) -> Output:
        """Add a node of type AnonymousMutableDenseHashTable and return the Output."""
    def AnonymousMutableHashTable(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type AnonymousMutableHashTable and return the Output."""
    def AnonymousMutableHashTableOfTensors(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, value_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Add a node of type AnonymousMutableHashTableOfTensors and return the Output."""
    def AnonymousRandomSeedGenerator(self, seed: TensorLike, seed2: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type AnonymousRandomSeedGenerator and return a tuple of Outputs."""
    def AnonymousSeedGenerator(self, seed: TensorLike, seed2: TensorLike, reshuffle: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type AnonymousSeedGenerator and return a tuple of Outputs."""
    def Any(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Any and return the Output."""
    def ApplyAdaMax(self, var: OutputLike, m: OutputLike, v: OutputLike, beta1_power: TensorLike, lr: TensorLike, beta1: TensorLike, beta2: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyAdaMax and return the Output."""
    def ApplyAdadelta(self, var: OutputLike, accum: OutputLike, accum_update: OutputLike, lr: TensorLike, rho: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyAdadelta and return the Output."""
    def ApplyAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Output:
        """Add a node of type ApplyAdagrad and return the Output."""
    def ApplyAdagradDA(self, var: OutputLike, gradient_accumulator: OutputLike, gradient_squared_accumulator: OutputLike, grad: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, global_step: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyAdagradDA and return the Output."""
    def ApplyAdagradV2(self, var: OutputLike, accum: OutputLike, lr: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Output:
        """Add a node of type ApplyAdagradV2 and return the Output."""
    def ApplyAdam(self, var: OutputLike, m: OutputLike, v: OutputLike, beta1_power: TensorLike, beta2_power: TensorLike, lr: TensorLike, beta1: TensorLike, beta2: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyAdam and return the Output."""
    def ApplyAddSign(self, var: OutputLike, m: OutputLike, lr: TensorLike, alpha: TensorLike, sign_decay: TensorLike, beta: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyAddSign and return the Output."""
    def ApplyCenteredRMSProp(self, var: OutputLike, mg: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyCenteredRMSProp and return the Output."""
    def ApplyFtrl(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyFtrl and return the Output."""
    def ApplyFtrlV2(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, l2_shrinkage: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyFtrlV2 and return the Output."""
    def ApplyGradientDescent(self, var: OutputLike, alpha: TensorLike, delta: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyGradientDescent and return the Output."""
    def ApplyMomentum(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, momentum: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyMomentum and return the Output."""
    def ApplyPowerSign(self, var: OutputLike, m: OutputLike, lr: TensorLike, logbase: TensorLike, sign_decay: TensorLike, beta: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyPowerSign and return the Output."""
    def ApplyProximalAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyProximalAdagrad and return the Output."""
    def ApplyProximalGradientDescent(self, var: OutputLike, alpha: TensorLike, l1: TensorLike, l2: TensorLike, delta: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyProximalGradientDescent and return the Output."""
    def ApplyRMSProp(self, var: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ApplyRMSProp and return the Output."""
    def ApproxTopK(self, input: TensorLike, /, *, k: int, reduction_dimension: int = -1, recall_target: float = 0.949999988079071, is_max_k: bool = True, reduction_input_size_override: int = -1, aggregate_to_topk: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type ApproxTopK and return a tuple of Outputs."""
    def ApproximateEqual(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, tolerance: float = 9.999999747378752e-06, name: str | None = None) -> Output:
        """Add a node of type ApproximateEqual and return the Output."""
    def ArgMax(self, input: TensorLike, dimension: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., output_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type ArgMax and return the Output."""
    def ArgMin(self, input: TensorLike, dimension: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., output_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type ArgMin and return the Output."""
    def AsString(self, input: TensorLike, /, *, T: DTypeLike | None = None, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1, fill: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type AsString and return the Output."""
    def Asin(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Asin and return the Output."""
    def Asinh(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Asinh and return the Output."""
    def Assert(self, condition: TensorLike, data: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, summarize: int = 3, name: str | None = None) -> Node:
        """Add a node of type Assert and return the Node."""
    def AssertCardinalityDataset(self, input_dataset: OutputLike, cardinality: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type AssertCardinalityDataset and return the Output."""
    def AssertNextDataset(self, input_dataset: OutputLike, transformations: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type AssertNextDataset and return the Output."""
    def AssertPrevDataset(self, input_dataset: OutputLike, transformations: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type AssertPrevDataset and return the Output."""
    def Assign(self, ref: OutputLike, value: TensorLike, /, *, T: DTypeLike | None = None, validate_shape: bool = True, use_locking: bool = True, name: str | None = None) -> Output:
        """Add a node of type Assign and return the Output."""
    def AssignAdd(self, ref: OutputLike, value: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type AssignAdd and return the Output."""
    def AssignAddVariableOp(self, resource: OutputLike, value: TensorLike, /, *, dtype: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type AssignAddVariableOp and return the Node."""
    def AssignSub(self, ref: OutputLike, value: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type AssignSub and return the Output."""
    def AssignSubVariableOp(self, resource: OutputLike, value: TensorLike, /, *, dtype: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type AssignSubVariableOp and return the Node."""
    def AssignVariableOp(self, resource: OutputLike, value: TensorLike, /, *, dtype: DTypeLike | None = None, validate_shape: bool = False, name: str | None = None) -> Node:
        """Add a node of type AssignVariableOp and return the Node."""
    def AssignVariableXlaConcatND(self, resource: OutputLike, inputs: Sequence[TensorLike], /, *, num_concats: Sequence[int], T: DTypeLike | None = None, N: int | None = None, paddings: Sequence[int] = ..., name: str | None = None) -> Node:
        """Add a node of type AssignVariableXlaConcatND and return the Node."""
    def Atan(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Atan and return the Output."""
    def Atan2(self, y: TensorLike, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Atan2 and return the Output."""
    def Atanh(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Atanh and return the Output."""
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
        """Add a node of type AudioSpectrogram and return the Output."""
    def AudioSummary(self, tag: TensorLike, tensor: TensorLike, /, *, sample_rate: float, max_outputs: int = 3, name: str | None = None) -> Output:
        """Add a node of type AudioSummary and return the Output."""
    def AudioSummaryV2(self, tag: TensorLike, tensor: TensorLike, sample_rate: TensorLike, /, *, max_outputs: int = 3, name: str | None = None) -> Output:
        """Add a node of type AudioSummaryV2 and return the Output."""
    def AutoShardDataset(self, input_dataset: OutputLike, num_workers: TensorLike, index: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], auto_shard_policy: int = 0, num_replicas: int = 0, name: str | None = None) -> Output:
        """Add a node of type AutoShardDataset and return the Output."""
    def AvgPool(self, value: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type AvgPool and return the Output."""
    def AvgPool3D(self, input: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type AvgPool3D and return the Output."""
    def AvgPool3DGrad(self, orig_input_shape: TensorLike, grad: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type AvgPool3DGrad and return the Output."""
    def AvgPoolGrad(self, orig_input_shape: TensorLike, grad: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type AvgPoolGrad and return the Output."""
    def B(self, *, name: str | None = None) -> Output:
        """Add a node of type B and return the Output."""
    def BandedTriangularSolve(self, matrix: TensorLike, rhs: TensorLike, /, *, lower: bool = True, adjoint: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BandedTriangularSolve and return the Output."""
    def Barrier(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type Barrier and return the Output."""
    def BarrierClose(self, handle: OutputLike, /, *, cancel_pending_enqueues: bool = False, name: str | None = None) -> Node:
        """Add a node of type BarrierClose and return the Node."""
    def BarrierIncompleteSize(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BarrierIncompleteSize and return the Output."""
    def BarrierInsertMany(self, handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, component_index: int, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type BarrierInsertMany and return the Node."""
    def BarrierReadySize(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BarrierReadySize and return the Output."""
    def BarrierTakeMany(self, handle: OutputLike, num_elements: TensorLike, /, *, component_types: Sequence[DTypeLike], allow_small_batch: bool = False, wait_for_incomplete: bool = False, timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type BarrierTakeMany and return a tuple of Outputs."""
    def Batch(self, in_tensors: Sequence[TensorLike], /, *, num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int, grad_timeout_micros: int, max_enqueued_batches: int = 10, allowed_batch_sizes: Sequence[int] = ..., container: str | bytes = '', shared_name: str | bytes = '', batching_queue: str | bytes = '', T: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type Batch and return a tuple of Outputs."""
    def BatchCholesky(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchCholesky and return the Output."""
    def BatchCholeskyGrad(self, l: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchCholeskyGrad and return the Output."""
    def BatchDataset(self, input_dataset: OutputLike, batch_size: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type BatchDataset and return the Output."""
    def BatchDatasetV2(self, input_dataset: OutputLike, batch_size: TensorLike, drop_remainder: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], parallel_copy: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type BatchDatasetV2 and return the Output."""
    def BatchFFT(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BatchFFT and return the Output."""
    def BatchFFT2D(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BatchFFT2D and return the Output."""
    def BatchFFT3D(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BatchFFT3D and return the Output."""
    def BatchFunction(self, in_tensors: Sequence[TensorLike], captured_tensors: Sequence[TensorLike], /, *, f: FuncRef | str, num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int, Tout: Sequence[DTypeLike], max_enqueued_batches: int = 10, allowed_batch_sizes: Sequence[int] = ..., container: str | bytes = '', shared_name: str | bytes = '', batching_queue: str | bytes = '', low_priority_max_batch_size: int = 0, low_priority_batch_timeout_micros: int = 0, low_priority_allowed_batch_sizes: Sequence[int] = ..., low_priority_max_enqueued_batches: int = 0, mixed_priority_policy: Literal['low_priority_padding_with_max_batch_size', 'low_priority_padding_with_next_allowed_batch_size', 'priority_isolation', 'priority_merge'] | bytes = 'low_priority_padding_with_max_batch_size', batch_padding_policy: Literal['PAD_UP', 'BATCH_DOWN', 'MINIMIZE_TPU_COST_PER_REQUEST'] | bytes = 'PAD_UP', Tin: Sequence[DTypeLike] | None = None, Tcaptured: Sequence[DTypeLike] | None = None, enable_large_batch_splitting: bool = False, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type BatchFunction and return a tuple of Outputs."""
    def BatchIFFT(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BatchIFFT and return the Output."""
    def BatchIFFT2D(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BatchIFFT2D and return the Output."""
    def BatchIFFT3D(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BatchIFFT3D and return the Output."""
    def BatchMatMul(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False, grad_y: bool = False, name: str | None = None) -> Output:
        """Add a node of type BatchMatMul and return the Output."""
    def BatchMatMulV2(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False, grad_y: bool = False, name: str | None = None) -> Output:
        """Add a node of type BatchMatMulV2 and return the Output."""
    def BatchMatMulV3(self, x: TensorLike, y: TensorLike, /, *, Tout: DTypeLike, Ta: DTypeLike | None = None, Tb: DTypeLike | None = None, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False, grad_y: bool = False, name: str | None = None) -> Output:
        """Add a node of type BatchMatMulV3 and return the Output."""
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
        """Add a node of type BatchNormWithGlobalNormalization and return the Output."""
    def BatchNormWithGlobalNormalizationGrad(self, t: TensorLike, m: TensorLike, v: TensorLike, gamma: TensorLike, backprop: TensorLike, /, *, variance_epsilon: float, scale_after_normalization: bool, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type BatchNormWithGlobalNormalizationGrad and return a tuple of Outputs."""
    def BatchSelfAdjointEig(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BatchSelfAdjointEig and return the Output."""
    def BatchSelfAdjointEigV2(self, input: TensorLike, /, *, compute_v: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type BatchSelfAdjointEigV2 and return a tuple of Outputs."""
    def BatchSvd(self, input: TensorLike, /, *, compute_uv: bool = True, full_matrices: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type BatchSvd and return a tuple of Outputs."""
    def BatchToSpace(self, input: TensorLike, crops: TensorLike, /, *, block_size: int, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type BatchToSpace and return the Output."""
    def BatchToSpaceND(self, input: TensorLike, block_shape: TensorLike, crops: TensorLike, /, *, T: DTypeLike | None = None, Tblock_shape: DTypeLike = ..., Tcrops: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type BatchToSpaceND and return the Output."""
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
        """Add a node of type Betainc and return the Output."""
    def BiasAdd(self, value: TensorLike, bias: TensorLike, /, *, T: DTypeLike | None = None, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', name: str | None = None) -> Output:
        """Add a node of type BiasAdd and return the Output."""
    def BiasAddGrad(self, out_backprop: TensorLike, /, *, T: DTypeLike | None = None, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', name: str | None = None) -> Output:
        """Add a node of type BiasAddGrad and return the Output."""
    def BiasAddV1(self, value: TensorLike, bias: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BiasAddV1 and return the Output."""
    def Binary(self, a: TensorLike, b: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Binary and return the Output."""
    def Bincount(self, arr: TensorLike, size: TensorLike, weights: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Bincount and return the Output."""
    def Bitcast(self, input: TensorLike, /, *, type: DTypeLike, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Bitcast and return the Output."""
    def BitwiseAnd(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BitwiseAnd and return the Output."""
    def BitwiseOr(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BitwiseOr and return the Output."""
    def BitwiseXor(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type BitwiseXor and return the Output."""
    def BlockLSTM(self, seq_len_max: TensorLike, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, /, *, forget_bias: float = 1.0, cell_clip: float = 3.0, use_peephole: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type BlockLSTM and return a tuple of Outputs."""
    def BlockLSTMGrad(self, seq_len_max: TensorLike, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, i: TensorLike, cs: TensorLike, f: TensorLike, o: TensorLike, ci: TensorLike, co: TensorLike, h: TensorLike, cs_grad: TensorLike, h_grad: TensorLike, /, *, use_peephole: bool, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type BlockLSTMGrad and return a tuple of Outputs."""
    def BlockLSTMGradV2(self, seq_len_max: TensorLike, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, i: TensorLike, cs: TensorLike, f: TensorLike, o: TensorLike, ci: TensorLike, co: TensorLike, h: TensorLike, cs_grad: TensorLike, h_grad: TensorLike, /, *, use_peephole: bool, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type BlockLSTMGradV2 and return a tuple of Outputs."""
    def BlockLSTMV2(self, seq_len_max: TensorLike, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, /, *, cell_clip: float = 0.0, use_peephole: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type BlockLSTMV2 and return a tuple of Outputs."""
    def BoostedTreesAggregateStats(self, node_ids: TensorLike, gradients: TensorLike, hessians: TensorLike, feature: TensorLike, /, *, max_splits: int, num_buckets: int, name: str | None = None) -> Output:
        """Add a node of type BoostedTreesAggregateStats and return the Output."""
    def BoostedTreesBucketize(self, float_values: Sequence[TensorLike], bucket_boundaries: Sequence[TensorLike], /, *, num_features: int | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type BoostedTreesBucketize and return a tuple of Outputs."""
    def BoostedTreesCalculateBestFeatureSplit(self, node_id_range: TensorLike, stats_summary: TensorLike, l1: TensorLike, l2: TensorLike, tree_complexity: TensorLike, min_node_weight: TensorLike, /, *, logits_dimension: int, split_type: Literal['inequality', 'equality'] | bytes = 'inequality', name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type BoostedTreesCalculateBestFeatureSplit and return a tuple of Outputs."""
    def BoostedTreesCalculateBestFeatureSplitV2(self, node_id_range: TensorLike, stats_summaries_list: Sequence[TensorLike], split_types: TensorLike, candidate_feature_ids: TensorLike, l1: TensorLike, l2: TensorLike, tree_complexity: TensorLike, min_node_weight: TensorLike, /, *, logits_dimension: int, num_features: int | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type BoostedTreesCalculateBestFeatureSplitV2 and return a tuple of Outputs."""
    def BoostedTreesCalculateBestGainsPerFeature(self, node_id_range: TensorLike, stats_summary_list: Sequence[TensorLike], l1: TensorLike, l2: TensorLike, tree_complexity: TensorLike, min_node_weight: TensorLike, /, *, max_splits: int, num_features: int | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type BoostedTreesCalculateBestGainsPerFeature and return a tuple of Outputs."""
    def BoostedTreesCenterBias(self, tree_ensemble_handle: OutputLike, mean_gradients: TensorLike, mean_hessians: TensorLike, l1: TensorLike, l2: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type BoostedTreesCenterBias and return the Output."""
    def BoostedTreesCreateEnsemble(self, tree_ensemble_handle: OutputLike, stamp_token: TensorLike, tree_ensemble_serialized: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type BoostedTreesCreateEnsemble and return the Node."""
    def BoostedTreesCreateQuantileStreamResource(self, quantile_stream_resource_handle: OutputLike, epsilon: TensorLike, num_streams: TensorLike, /, *, max_elements: int = 1099511627776, name: str | None = None) -> Node:
        """Add a node of type BoostedTreesCreateQuantileStreamResource and return the Node."""
    def BoostedTreesDeserializeEnsemble(self, tree_ensemble_handle: OutputLike, stamp_token: TensorLike, tree_ensemble_serialized: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type BoostedTreesDeserializeEnsemble and return the Node."""
    def BoostedTreesEnsembleResourceHandleOp(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type BoostedTreesEnsembleResourceHandleOp and return the Output."""
    def BoostedTreesExampleDebugOutputs(self, tree_ensemble_handle: OutputLike, bucketized_features: Sequence[TensorLike], /, *, logits_dimension: int, num_bucketized_features: int | None = None, name: str | None = None) -> Output:
        """Add a node of type BoostedTreesExampleDebugOutputs and return the Output."""
    def BoostedTreesFlushQuantileSummaries(self, quantile_stream_resource_handle: OutputLike, /, *, num_features: int, name: str | None = None) -> OutputsOrNode:
        """Add a node of type BoostedTreesFlushQuantileSummaries and return a tuple of Outputs."""
    def BoostedTreesGetEnsembleStates(self, tree_ensemble_handle: OutputLike, /, *, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type BoostedTreesGetEnsembleStates and return a tuple of Outputs."""
    def BoostedTreesMakeQuantileSummaries(self, float_values: Sequence[TensorLike], example_weights: TensorLike, epsilon: TensorLike, /, *, num_features: int | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type BoostedTreesMakeQuantileSummaries and return a tuple of Outputs."""
    def BoostedTreesMakeStatsSummary(self, node_ids: TensorLike, gradients: TensorLike, hessians: TensorLike, bucketized_features_list: Sequence[TensorLike], /, *, max_splits: int, num_buckets: int, num_features: int | None = None, name: str | None = None) -> Output:
        """Add a node of type BoostedTreesMakeStatsSummary and return the Output."""
    def BoostedTreesPredict(self, tree_ensemble_handle: OutputLike, bucketized_features: Sequence[TensorLike], /, *, logits_dimension: int, num_bucketized_features: int | None = None, name: str | None = None) -> Output:
        """Add a node of type BoostedTreesPredict and return the Output."""
    def BoostedTreesQuantileStreamResourceAddSummaries(self, quantile_stream_resource_handle: OutputLike, summaries: Sequence[TensorLike], /, *, num_features: int | None = None, name: str | None = None) -> Node:
        """Add a node of type BoostedTreesQuantileStreamResourceAddSummaries and return the Node."""
    def BoostedTreesQuantileStreamResourceDeserialize(self, quantile_stream_resource_handle: OutputLike, bucket_boundaries: Sequence[TensorLike], /, *, num_streams: int | None = None, name: str | None = None) -> Node:
        """Add a node of type BoostedTreesQuantileStreamResourceDeserialize and return the Node."""
    def BoostedTreesQuantileStreamResourceFlush(self, quantile_stream_resource_handle: OutputLike, num_buckets: TensorLike, /, *, generate_quantiles: bool = False, name: str | None = None) -> Node:
        """Add a node of type BoostedTreesQuantileStreamResourceFlush and return the Node."""
    def BoostedTreesQuantileStreamResourceGetBucketBoundaries(self, quantile_stream_resource_handle: OutputLike, /, *, num_features: int, name: str | None = None) -> OutputsOrNode:
        """Add a node of type BoostedTreesQuantileStreamResourceGetBucketBoundaries and return a tuple of Outputs."""
    def BoostedTreesQuantileStreamResourceHandleOp(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type BoostedTreesQuantileStreamResourceHandleOp and return the Output."""
    def BoostedTreesSerializeEnsemble(self, tree_ensemble_handle: OutputLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type BoostedTreesSerializeEnsemble and return a tuple of Outputs."""
    def BoostedTreesSparseAggregateStats(self, node_ids: TensorLike, gradients: TensorLike, hessians: TensorLike, feature_indices: TensorLike, feature_values: TensorLike, feature_shape: TensorLike, /, *, max_splits: int, num_buckets: int, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type BoostedTreesSparseAggregateStats and return a tuple of Outputs."""
    def BoostedTreesSparseCalculateBestFeatureSplit(self, node_id_range: TensorLike, stats_summary_indices: TensorLike, stats_summary_values: TensorLike, stats_summary_shape: TensorLike, l1: TensorLike, l2: TensorLike, tree_complexity: TensorLike, min_node_weight: TensorLike, /, *, logits_dimension: int, split_type: Literal['inequality'] | bytes = 'inequality', name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type BoostedTreesSparseCalculateBestFeatureSplit and return a tuple of Outputs."""
    def BoostedTreesTrainingPredict(self, tree_ensemble_handle: OutputLike, cached_tree_ids: TensorLike, cached_node_ids: TensorLike, bucketized_features: Sequence[TensorLike], /, *, logits_dimension: int, num_bucketized_features: int | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type BoostedTreesTrainingPredict and return a tuple of Outputs."""
    def BoostedTreesUpdateEnsemble(self, tree_ensemble_handle: OutputLike, feature_ids: TensorLike, node_ids: Sequence[TensorLike], gains: Sequence[TensorLike], thresholds: Sequence[TensorLike], left_node_contribs: Sequence[TensorLike], right_node_contribs: Sequence[TensorLike], max_depth: TensorLike, learning_rate: TensorLike, /, *, pruning_mode: int, num_features: int | None = None, name: str | None = None) -> Node:
        """Add a node of type BoostedTreesUpdateEnsemble and return the Node."""
    def BoostedTreesUpdateEnsembleV2(self, tree_ensemble_handle: OutputLike, feature_ids: Sequence[TensorLike], dimension_ids: Sequence[TensorLike], node_ids: Sequence[TensorLike], gains: Sequence[TensorLike], thresholds: Sequence[TensorLike], left_node_contribs: Sequence[TensorLike], right_node_contribs: Sequence[TensorLike], split_types: Sequence[TensorLike], max_depth: TensorLike, learning_rate: TensorLike, pruning_mode: TensorLike, /, *, num_features: int | None = None, logits_dimension: int = 1, num_groups: int = 1, name: str | None = None) -> Node:
        """Add a node of type BoostedTreesUpdateEnsembleV2 and return the Node."""
    def BroadcastArgs(self, s0: TensorLike, s1: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type BroadcastArgs and return the Output."""
    def BroadcastGradientArgs(self, s0: TensorLike, s1: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type BroadcastGradientArgs and return a tuple of Outputs."""
    def BroadcastTo(self, input: TensorLike, shape: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type BroadcastTo and return the Output."""
    def Bucketize(self, input: TensorLike, /, *, boundaries: Sequence[float], T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Bucketize and return the Output."""
    def BytesProducedStatsDataset(self, input_dataset: OutputLike, tag: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type BytesProducedStatsDataset and return the Output."""
    def CSRSparseMatrixComponents(self, csr_sparse_matrix: OutputLike, index: TensorLike, /, *, type: DTypeLike, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type CSRSparseMatrixComponents and return a tuple of Outputs."""
    def CSRSparseMatrixToDense(self, sparse_input: OutputLike, /, *, type: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type CSRSparseMatrixToDense and return the Output."""
    def CSRSparseMatrixToSparseTensor(self, sparse_matrix: OutputLike, /, *, type: DTypeLike, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type CSRSparseMatrixToSparseTensor and return a tuple of Outputs."""
    def CSVDataset(self, filenames: TensorLike, compression_type: TensorLike, buffer_size: TensorLike, header: TensorLike, field_delim: TensorLike, use_quote_delim: TensorLike, na_value: TensorLike, select_cols: TensorLike, record_defaults: Sequence[TensorLike], /, *, output_shapes: Sequence[ShapeLike], output_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type CSVDataset and return the Output."""
    def CSVDatasetV2(self, filenames: TensorLike, compression_type: TensorLike, buffer_size: TensorLike, header: TensorLike, field_delim: TensorLike, use_quote_delim: TensorLike, na_value: TensorLike, select_cols: TensorLike, record_defaults: Sequence[TensorLike], exclude_cols: TensorLike, /, *, output_shapes: Sequence[ShapeLike], output_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type CSVDatasetV2 and return the Output."""
    def CTCBeamSearchDecoder(self, inputs: TensorLike, sequence_length: TensorLike, /, *, beam_width: int, top_paths: int, merge_repeated: bool = True, T: DTypeLike = ..., name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type CTCBeamSearchDecoder and return a tuple of Outputs."""
    def CTCGreedyDecoder(self, inputs: TensorLike, sequence_length: TensorLike, /, *, merge_repeated: bool = False, blank_index: int = -1, T: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type CTCGreedyDecoder and return a tuple of Outputs."""
    def CTCLoss(self, inputs: TensorLike, labels_indices: TensorLike, labels_values: TensorLike, sequence_length: TensorLike, /, *, preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False, T: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type CTCLoss and return a tuple of Outputs."""
    def CTCLossV2(self, inputs: TensorLike, labels_indices: TensorLike, labels_values: TensorLike, sequence_length: TensorLike, /, *, preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type CTCLossV2 and return a tuple of Outputs."""
    def CacheDataset(self, input_dataset: OutputLike, filename: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type CacheDataset and return the Output."""
    def CacheDatasetV2(self, input_dataset: OutputLike, filename: TensorLike, cache: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type CacheDatasetV2 and return the Output."""
    def CalibrationStatisticsSaver(self, args: Sequence[TensorLike], /, *, ids: Sequence[str | bytes], calibration_methods: Sequence[int], output_file_path: str | bytes, Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Add a node of type CalibrationStatisticsSaver and return the Node."""
    def Case(self, branch_index: TensorLike, input: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], branches: Sequence[FuncRef | str], Tin: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """Add a node of type Case and return a tuple of Outputs."""
    def Cast(self, x: TensorLike, /, *, DstT: DTypeLike, SrcT: DTypeLike | None = None, Truncate: bool = False, name: str | None = None) -> Output:
        """Add a node of type Cast and return the Output."""
    def Ceil(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Ceil and return the Output."""
    def CheckNumerics(self, tensor: TensorLike, /, *, message: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CheckNumerics and return the Output."""
    def CheckNumericsV2(self, tensor: TensorLike, /, *, message: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CheckNumericsV2 and return the Output."""
    def CheckPinned(self, tensor: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CheckPinned and return the Output."""
    def Cholesky(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Cholesky and return the Output."""
    def CholeskyGrad(self, l: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CholeskyGrad and return the Output."""
    def ChooseFastestBranchDataset(self, input_dataset: OutputLike, ratio_numerator: TensorLike, ratio_denominator: TensorLike, other_arguments: Sequence[TensorLike], /, *, num_elements_per_branch: int, branches: Sequence[FuncRef | str], other_arguments_lengths: Sequence[int], output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type ChooseFastestBranchDataset and return the Output."""
    def ChooseFastestDataset(self, input_datasets: Sequence[OutputLike], /, *, num_experiments: int, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, name: str | None = None) -> Output:
        """Add a node of type ChooseFastestDataset and return the Output."""
    def ClipByValue(self, t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ClipByValue and return the Output."""
    def CloseSummaryWriter(self, writer: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type CloseSummaryWriter and return the Node."""
    def CollateTPUEmbeddingMemory(self, memory_configs: Sequence[TensorLike], /, *, N: int | None = None, name: str | None = None) -> Output:
        """Add a node of type CollateTPUEmbeddingMemory and return the Output."""
    def CollectiveAllToAllV2(self, input: TensorLike, group_size: TensorLike, group_key: TensorLike, instance_key: TensorLike, ordering_token: Sequence[OutputLike], /, *, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, is_stateless: bool = False, Nordering_token: int = 0, name: str | None = None) -> Output:
        """Add a node of type CollectiveAllToAllV2 and return the Output."""
    def CollectiveAllToAllV3(self, input: TensorLike, communicator: OutputLike, group_assignment: TensorLike, /, *, T: DTypeLike | None = None, timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Add a node of type CollectiveAllToAllV3 and return the Output."""
    def CollectiveAssignGroupV2(self, group_assignment: TensorLike, device_index: TensorLike, base_key: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type CollectiveAssignGroupV2 and return a tuple of Outputs."""
    def CollectiveBcastRecv(self, *, T: DTypeLike, group_size: int, group_key: int, instance_key: int, shape: ShapeLike, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Add a node of type CollectiveBcastRecv and return the Output."""
    def CollectiveBcastRecvV2(self, group_size: TensorLike, group_key: TensorLike, instance_key: TensorLike, shape: TensorLike, /, *, T: DTypeLike, Tshape: DTypeLike = ..., communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Add a node of type CollectiveBcastRecvV2 and return the Output."""
    def CollectiveBcastSend(self, input: TensorLike, /, *, group_size: int, group_key: int, instance_key: int, shape: ShapeLike, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Add a node of type CollectiveBcastSend and return the Output."""
    def CollectiveBcastSendV2(self, input: TensorLike, group_size: TensorLike, group_key: TensorLike, instance_key: TensorLike, /, *, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Add a node of type CollectiveBcastSendV2 and return the Output."""
    def CollectiveGather(self, input: TensorLike, /, *, group_size: int, group_key: int, instance_key: int, shape: ShapeLike, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Add a node of type CollectiveGather and return the Output."""
    def CollectiveGatherV2(self, input: TensorLike, group_size: TensorLike, group_key: TensorLike, instance_key: TensorLike, ordering_token: Sequence[OutputLike], /, *, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, is_stateless: bool = False, Nordering_token: int = 0, name: str | None = None) -> Output:
        """Add a node of type CollectiveGatherV2 and return the Output."""
    def CollectiveInitializeCommunicator(self, group_key: TensorLike, rank: TensorLike, group_size: TensorLike, /, *, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Add a node of type CollectiveInitializeCommunicator and return the Output."""
    def CollectivePermute(self, input: TensorLike, source_target_pairs: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CollectivePermute and return the Output."""
    def CollectiveReduce(self, input: TensorLike, /, *, group_size: int, group_key: int, instance_key: int, merge_op: Literal['Min', 'Max', 'Mul', 'Add'] | bytes, final_op: Literal['Id', 'Div'] | bytes, subdiv_offsets: Sequence[int], T: DTypeLike | None = None, wait_for: Sequence[int] = ..., communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Add a node of type CollectiveReduce and return the Output."""
    def CollectiveReduceScatterV2(self, input: TensorLike, group_size: TensorLike, group_key: TensorLike, instance_key: TensorLike, ordering_token: Sequence[OutputLike], /, *, merge_op: Literal['Min', 'Max', 'Mul', 'Add'] | bytes, final_op: Literal['Id', 'Div'] | bytes, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, is_stateless: bool = False, Nordering_token: int = 0, max_subdivs_per_device: int = -1, name: str | None = None) -> Output:
        """Add a node of type CollectiveReduceScatterV2 and return the Output."""
    def CollectiveReduceV2(self, input: TensorLike, group_size: TensorLike, group_key: TensorLike, instance_key: TensorLike, ordering_token: Sequence[OutputLike], /, *, merge_op: Literal['Min', 'Max', 'Mul', 'Add'] | bytes, final_op: Literal['Id', 'Div'] | bytes, T: DTypeLike | None = None, communication_hint: str | bytes = 'auto', timeout_seconds: float = 0.0, is_stateless: bool = False, Nordering_token: int = 0, max_subdivs_per_device: int = -1, name: str | None = None) -> Output:
        """Add a node of type CollectiveReduceV2 and return the Output."""
    def CollectiveReduceV3(self, input: TensorLike, communicator: OutputLike, group_assignment: TensorLike, /, *, reduction: Literal['Min', 'Max', 'Mul', 'Add'] | bytes, T: DTypeLike | None = None, timeout_seconds: float = 0.0, name: str | None = None) -> Output:
        """Add a node of type CollectiveReduceV3 and return the Output."""
    def CombinedNonMaxSuppression(self, boxes: TensorLike, scores: TensorLike, max_output_size_per_class: TensorLike, max_total_size: TensorLike, iou_threshold: TensorLike, score_threshold: TensorLike, /, *, pad_per_class: bool = False, clip_boxes: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type CombinedNonMaxSuppression and return a tuple of Outputs."""
    def Complex(self, real: TensorLike, imag: TensorLike, /, *, T: DTypeLike = ..., Tout: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Complex and return the Output."""
    def ComplexAbs(self, x: TensorLike, /, *, T: DTypeLike = ..., Tout: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type ComplexAbs and return the Output."""
    def ComplexStruct(self, *, n_a: int, n_b: int, t_c: Sequence[DTypeLike], name: str | None = None) -> OutputsOrNode:
        """Add a node of type ComplexStruct and return a tuple of Outputs."""
    def CompositeTensorVariantFromComponents(self, components: Sequence[TensorLike], /, *, metadata: str | bytes, Tcomponents: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type CompositeTensorVariantFromComponents and return the Output."""
    def CompositeTensorVariantToComponents(self, encoded: OutputLike, /, *, metadata: str | bytes, Tcomponents: Sequence[DTypeLike], name: str | None = None) -> OutputsOrNode:
        """Add a node of type CompositeTensorVariantToComponents and return a tuple of Outputs."""
    def CompressElement(self, components: Sequence[TensorLike], /, *, input_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type CompressElement and return the Output."""
    def ComputeAccidentalHits(self, true_classes: TensorLike, sampled_candidates: TensorLike, /, *, num_true: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type ComputeAccidentalHits and return a tuple of Outputs."""
    def ComputeBatchSize(self, input_dataset: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ComputeBatchSize and return the Output."""
    def ComputeDedupDataSize(self, *, config: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ComputeDedupDataSize and return the Output."""
    def ComputeDedupDataSizeV2(self, *, config: str | bytes, embedding_partitions: str | bytes, hbm_buffers_config: str | bytes, tpu_topology: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ComputeDedupDataSizeV2 and return the Output."""
    def ComputeDedupDataTupleMask(self, *, config: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ComputeDedupDataTupleMask and return the Output."""
    def ComputeDedupDataTupleMaskV2(self, *, config: str | bytes, embedding_partitions: str | bytes, hbm_buffers_config: str | bytes, tpu_topology: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ComputeDedupDataTupleMaskV2 and return the Output."""
    def Concat(self, concat_dim: TensorLike, values: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Concat and return the Output."""
    def ConcatOffset(self, concat_dim: TensorLike, shape: Sequence[TensorLike], /, *, N: int | None = None, shape_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type ConcatOffset and return a tuple of Outputs."""
    def ConcatV2(self, values: Sequence[TensorLike], axis: TensorLike, /, *, N: int | None = None, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type ConcatV2 and return the Output."""
    def ConcatenateDataset(self, input_dataset: OutputLike, another_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ConcatenateDataset and return the Output."""
    def ConditionalAccumulator(self, *, dtype: DTypeLike, shape: ShapeLike, container: str | bytes = '', shared_name: str | bytes = '', reduction_type: Literal['MEAN', 'SUM'] | bytes = 'MEAN', name: str | None = None) -> Output:
        """Add a node of type ConditionalAccumulator and return the Output."""
    def ConfigureAndInitializeGlobalTPU(self, *, use_tfrt_host_runtime: bool = True, name: str | None = None) -> Output:
        """Add a node of type ConfigureAndInitializeGlobalTPU and return the Output."""
    def ConfigureDistributedTPU(self, *, embedding_config: str | bytes = '', tpu_embedding_config: str | bytes = '', is_global_init: bool = False, enable_whole_mesh_compilations: bool = False, compilation_failure_closes_chips: bool = True, tpu_cancellation_closes_chips: int = 0, name: str | None = None) -> Output:
        """Add a node of type ConfigureDistributedTPU and return the Output."""
    def ConfigureTPUEmbedding(self, *, config: str | bytes, name: str | None = None) -> Node:
        """Add a node of type ConfigureTPUEmbedding and return the Node."""
    def ConfigureTPUEmbeddingHost(self, common_config: TensorLike, memory_config: TensorLike, /, *, config: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ConfigureTPUEmbeddingHost and return the Output."""
    def ConfigureTPUEmbeddingMemory(self, common_config: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ConfigureTPUEmbeddingMemory and return the Output."""
    def Conj(self, input: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Conj and return the Output."""
    def ConjugateTranspose(self, x: TensorLike, perm: TensorLike, /, *, T: DTypeLike | None = None, Tperm: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type ConjugateTranspose and return the Output."""
    def ConnectTPUEmbeddingHosts(self, network_configs: Sequence[TensorLike], /, *, N: int | None = None, name: str | None = None) -> Node:
        """Add a node of type ConnectTPUEmbeddingHosts and return the Node."""
    def Const(self, *, value: Tensor | ArrayLike, dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type Const and return the Output."""
    def ConstructionFails(self, *, name: str | None = None) -> Node:
        """Add a node of type ConstructionFails and return the Node."""
    def ConsumeMutexLock(self, mutex_lock: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ConsumeMutexLock and return the Node."""
    def ControlTrigger(self, *, name: str | None = None) -> Node:
        """Add a node of type ControlTrigger and return the Node."""
    def Conv(self, input: TensorLike, filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, explicit_paddings: Sequence[int] = ..., data_format: Literal['CHANNELS_FIRST', 'CHANNELS_LAST'] | bytes = 'CHANNELS_LAST', dilations: Sequence[int] = ..., batch_dims: int = 1, groups: int = 1, name: str | None = None) -> Output:
        """Add a node of type Conv and return the Output."""
    def Conv2D(self, input: TensorLike, filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type Conv2D and return the Output."""
    def Conv2DBackpropFilter(self, input: TensorLike, filter_sizes: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type Conv2DBackpropFilter and return the Output."""
    def Conv2DBackpropFilterV2(self, input: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type Conv2DBackpropFilterV2 and return the Output."""
    def Conv2DBackpropInput(self, input_sizes: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type Conv2DBackpropInput and return the Output."""
    def Conv2DBackpropInputV2(self, input: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type Conv2DBackpropInputV2 and return the Output."""
    def Conv3D(self, input: TensorLike, filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type Conv3D and return the Output."""
    def Conv3DBackpropFilter(self, input: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type Conv3DBackpropFilter and return the Output."""
    def Conv3DBackpropFilterV2(self, input: TensorLike, filter_sizes: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type Conv3DBackpropFilterV2 and return the Output."""
    def Conv3DBackpropInput(self, input: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type Conv3DBackpropInput and return the Output."""
    def Conv3DBackpropInputV2(self, input_sizes: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', dilations: Sequence[int] = ..., Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Conv3DBackpropInputV2 and return the Output."""
    def ConvertToCooTensor(self, indices_or_row_splits: TensorLike, values: TensorLike, weights: TensorLike, /, *, sample_count: int, combiner: str | bytes, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type ConvertToCooTensor and return a tuple of Outputs."""
    def ConvertToListOfSparseCoreCooTensors(self, indices_or_row_splits: TensorLike, values: TensorLike, weights: TensorLike, /, *, sample_count: int, num_sc_per_chip: int, row_offset: int, col_offset: int, col_shift: int, num_sc_shards: int, stacked_table_sample_count: int, combiner: str | bytes, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type ConvertToListOfSparseCoreCooTensors and return a tuple of Outputs."""
    def ConvertToSparseCoreCsrWrappedCooTensor(self, sorted_row_ids_list: Sequence[TensorLike], sorted_col_ids_list: Sequence[TensorLike], sorted_gains_list: Sequence[TensorLike], id_counts_list: Sequence[TensorLike], splits: TensorLike, /, *, sample_count_per_sc: int, num_replica: int, max_minibatches_per_sc: int, max_ids_per_chip_per_sample: int, table_vocab_size: int, feature_width: int, table_name: str | bytes, allow_id_dropping: bool, num_sc_per_chip: int | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type ConvertToSparseCoreCsrWrappedCooTensor and return a tuple of Outputs."""
    def Copy(self, input: TensorLike, /, *, T: DTypeLike | None = None, tensor_name: str | bytes = '', debug_ops_spec: Sequence[str | bytes] = ..., name: str | None = None) -> Output:
        """Add a node of type Copy and return the Output."""
    def CopyHost(self, input: TensorLike, /, *, T: DTypeLike | None = None, tensor_name: str | bytes = '', debug_ops_spec: Sequence[str | bytes] = ..., name: str | None = None) -> Output:
        """Add a node of type CopyHost and return the Output."""
    def CopyOp(self, a: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CopyOp and return the Output."""
    def CopyToMesh(self, input: TensorLike, /, *, mesh: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CopyToMesh and return the Output."""
    def CopyToMeshGrad(self, input: TensorLike, forward_input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CopyToMeshGrad and return the Output."""
    def Cos(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Cos and return the Output."""
    def Cosh(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Cosh and return the Output."""
    def CountUpTo(self, ref: OutputLike, /, *, limit: int, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CountUpTo and return the Output."""
    def CreateSummaryDbWriter(self, writer: OutputLike, db_uri: TensorLike, experiment_name: TensorLike, run_name: TensorLike, user_name: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type CreateSummaryDbWriter and return the Node."""
    def CreateSummaryFileWriter(self, writer: OutputLike, logdir: TensorLike, max_queue: TensorLike, flush_millis: TensorLike, filename_suffix: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type CreateSummaryFileWriter and return the Node."""
    def CropAndResize(self, image: TensorLike, boxes: TensorLike, box_ind: TensorLike, crop_size: TensorLike, /, *, T: DTypeLike | None = None, method: Literal['bilinear', 'nearest'] | bytes = 'bilinear', extrapolation_value: float = 0.0, name: str | None = None) -> Output:
        """Add a node of type CropAndResize and return the Output."""
    def CropAndResizeGradBoxes(self, grads: TensorLike, image: TensorLike, boxes: TensorLike, box_ind: TensorLike, /, *, T: DTypeLike | None = None, method: Literal['bilinear'] | bytes = 'bilinear', name: str | None = None) -> Output:
        """Add a node of type CropAndResizeGradBoxes and return the Output."""
    def CropAndResizeGradImage(self, grads: TensorLike, boxes: TensorLike, box_ind: TensorLike, image_size: TensorLike, /, *, T: DTypeLike, method: Literal['bilinear', 'nearest'] | bytes = 'bilinear', name: str | None = None) -> Output:
        """Add a node of type CropAndResizeGradImage and return the Output."""
    def Cross(self, a: TensorLike, b: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Cross and return the Output."""
    def CrossReplicaSum(self, input: TensorLike, group_assignment: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type CrossReplicaSum and return the Output."""
    def CudnnRNN(self, input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, /, *, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type CudnnRNN and return a tuple of Outputs."""
    def CudnnRNNBackprop(self, input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, output: TensorLike, output_h: TensorLike, output_c: TensorLike, output_backprop: TensorLike, output_h_backprop: TensorLike, output_c_backprop: TensorLike, reserve_space: TensorLike, /, *, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type CudnnRNNBackprop and return a tuple of Outputs."""
    def CudnnRNNBackpropV2(self, input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, output: TensorLike, output_h: TensorLike, output_c: TensorLike, output_backprop: TensorLike, output_h_backprop: TensorLike, output_c_backprop: TensorLike, reserve_space: TensorLike, host_reserved: TensorLike, /, *, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type CudnnRNNBackpropV2 and return a tuple of Outputs."""
    def CudnnRNNBackpropV3(self, input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, sequence_lengths: TensorLike, output: TensorLike, output_h: TensorLike, output_c: TensorLike, output_backprop: TensorLike, output_h_backprop: TensorLike, output_c_backprop: TensorLike, reserve_space: TensorLike, host_reserved: TensorLike, /, *, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, num_proj: int = 0, time_major: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type CudnnRNNBackpropV3 and return a tuple of Outputs."""
    def CudnnRNNCanonicalToParams(self, num_layers: TensorLike, num_units: TensorLike, input_size: TensorLike, weights: Sequence[TensorLike], biases: Sequence[TensorLike], /, *, T: DTypeLike | None = None, num_params: int | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, name: str | None = None) -> Output:
        """Add a node of type CudnnRNNCanonicalToParams and return the Output."""
    def CudnnRNNCanonicalToParamsV2(self, num_layers: TensorLike, num_units: TensorLike, input_size: TensorLike, weights: Sequence[TensorLike], biases: Sequence[TensorLike], /, *, T: DTypeLike | None = None, num_params_weights: int | None = None, num_params_biases: int | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, num_proj: int = 0, name: str | None = None) -> Output:
        """Add a node of type CudnnRNNCanonicalToParamsV2 and return the Output."""
    def CudnnRNNParamsSize(self, num_layers: TensorLike, num_units: TensorLike, input_size: TensorLike, /, *, T: DTypeLike, S: DTypeLike, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, num_proj: int = 0, name: str | None = None) -> Output:
        """Add a node of type CudnnRNNParamsSize and return the Output."""
    def CudnnRNNParamsToCanonical(self, num_layers: TensorLike, num_units: TensorLike, input_size: TensorLike, params: TensorLike, /, *, num_params: int, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type CudnnRNNParamsToCanonical and return a tuple of Outputs."""
    def CudnnRNNParamsToCanonicalV2(self, num_layers: TensorLike, num_units: TensorLike, input_size: TensorLike, params: TensorLike, /, *, num_params_weights: int, num_params_biases: int, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, num_proj: int = 0, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type CudnnRNNParamsToCanonicalV2 and return a tuple of Outputs."""
    def CudnnRNNV2(self, input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, /, *, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type CudnnRNNV2 and return a tuple of Outputs."""
    def CudnnRNNV3(self, input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, sequence_lengths: TensorLike, /, *, T: DTypeLike | None = None, rnn_mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'] | bytes = 'lstm', input_mode: Literal['linear_input', 'skip_input', 'auto_select'] | bytes = 'linear_input', direction: Literal['unidirectional', 'bidirectional'] | bytes = 'unidirectional', dropout: float = 0.0, seed: int = 0, seed2: int = 0, num_proj: int = 0, is_training: bool = True, time_major: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type CudnnRNNV3 and return a tuple of Outputs."""
    def Cumprod(self, x: TensorLike, axis: TensorLike, /, *, exclusive: bool = False, reverse: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Cumprod and return the Output."""
    def Cumsum(self, x: TensorLike, axis: TensorLike, /, *, exclusive: bool = False, reverse: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Cumsum and return the Output."""
    def CumulativeLogsumexp(self, x: TensorLike, axis: TensorLike, /, *, exclusive: bool = False, reverse: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type CumulativeLogsumexp and return the Output."""
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
        """Add a node of type DataFormatDimMap and return the Output."""
    def DataFormatVecPermute(self, x: TensorLike, /, *, T: DTypeLike = ..., src_format: str | bytes = 'NHWC', dst_format: str | bytes = 'NCHW', name: str | None = None) -> Output:
        """Add a node of type DataFormatVecPermute and return the Output."""
    def DataServiceDataset(self, dataset_id: TensorLike, processing_mode: TensorLike, address: TensorLike, protocol: TensorLike, job_name: TensorLike, max_outstanding_requests: TensorLike, iteration_counter: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], task_refresh_interval_hint_ms: int = -1, data_transfer_protocol: str | bytes = '', target_workers: str | bytes = 'AUTO', cross_trainer_cache_options: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type DataServiceDataset and return the Output."""
    def DataServiceDatasetV2(self, dataset_id: TensorLike, processing_mode: TensorLike, address: TensorLike, protocol: TensorLike, job_name: TensorLike, consumer_index: TensorLike, num_consumers: TensorLike, max_outstanding_requests: TensorLike, iteration_counter: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], task_refresh_interval_hint_ms: int = -1, data_transfer_protocol: str | bytes = '', target_workers: str | bytes = 'AUTO', cross_trainer_cache_options: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type DataServiceDatasetV2 and return the Output."""
    def DataServiceDatasetV3(self, dataset_id: TensorLike, processing_mode: TensorLike, address: TensorLike, protocol: TensorLike, job_name: TensorLike, consumer_index: TensorLike, num_consumers: TensorLike, max_outstanding_requests: TensorLike, iteration_counter: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], uncompress_fn: FuncRef | str, task_refresh_interval_hint_ms: int = -1, data_transfer_protocol: str | bytes = '', target_workers: str | bytes = 'AUTO', uncompress: bool = False, cross_trainer_cache_options: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type DataServiceDatasetV3 and return the Output."""
    def DataServiceDatasetV4(self, dataset_id: TensorLike, processing_mode: TensorLike, address: TensorLike, protocol: TensorLike, job_name: TensorLike, consumer_index: TensorLike, num_consumers: TensorLike, max_outstanding_requests: TensorLike, iteration_counter: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], uncompress_fn: FuncRef | str, task_refresh_interval_hint_ms: int = -1, data_transfer_protocol: str | bytes = '', target_workers: str | bytes = 'AUTO', uncompress: bool = False, cross_trainer_cache_options: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type DataServiceDatasetV4 and return the Output."""
    def DatasetCardinality(self, input_dataset: OutputLike, /, *, cardinality_options: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type DatasetCardinality and return the Output."""
    def DatasetFingerprint(self, input_dataset: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type DatasetFingerprint and return the Output."""
    def DatasetFromGraph(self, graph_def: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type DatasetFromGraph and return the Output."""
    def DatasetToGraph(self, input_dataset: OutputLike, /, *, stateful_whitelist: Sequence[str | bytes] = ..., allow_stateful: bool = False, strip_device_assignment: bool = False, name: str | None = None) -> Output:
        """Add a node of type DatasetToGraph and return the Output."""
    def DatasetToGraphV2(self, input_dataset: OutputLike, /, *, external_state_policy: int = 0, strip_device_assignment: bool = False, name: str | None = None) -> Output:
        """Add a node of type DatasetToGraphV2 and return the Output."""
    def DatasetToSingleElement(self, dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type DatasetToSingleElement and return a tuple of Outputs."""
    def DatasetToTFRecord(self, input_dataset: OutputLike, filename: TensorLike, compression_type: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DatasetToTFRecord and return the Node."""
    def Dawsn(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Dawsn and return the Output."""
    def DebugGradientIdentity(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DebugGradientIdentity and return the Output."""
    def DebugGradientRefIdentity(self, input: OutputLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DebugGradientRefIdentity and return the Output."""
    def DebugIdentity(self, input: TensorLike, /, *, T: DTypeLike | None = None, device_name: str | bytes = '', tensor_name: str | bytes = '', debug_urls: Sequence[str | bytes] = ..., gated_grpc: bool = False, name: str | None = None) -> Output:
        """Add a node of type DebugIdentity and return the Output."""
    def DebugIdentityV2(self, input: TensorLike, /, *, T: DTypeLike | None = None, tfdbg_context_id: str | bytes = '', op_name: str | bytes = '', output_slot: int = -1, tensor_debug_mode: int = -1, debug_urls: Sequence[str | bytes] = ..., circular_buffer_size: int = 1000, tfdbg_run_id: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type DebugIdentityV2 and return the Output."""
    def DebugIdentityV3(self, input: TensorLike, /, *, T: DTypeLike | None = None, device_name: str | bytes = '', tensor_name: str | bytes = '', io_of_node: str | bytes = '', is_input: bool = False, io_index: int = -1, debug_urls: Sequence[str | bytes] = ..., gated_grpc: bool = False, name: str | None = None) -> Output:
        """Add a node of type DebugIdentityV3 and return the Output."""
    def DebugNanCount(self, input: TensorLike, /, *, T: DTypeLike | None = None, device_name: str | bytes = '', tensor_name: str | bytes = '', debug_urls: Sequence[str | bytes] = ..., gated_grpc: bool = False, name: str | None = None) -> Output:
        """Add a node of type DebugNanCount and return the Output."""
    def DebugNumericSummary(self, input: TensorLike, /, *, T: DTypeLike | None = None, device_name: str | bytes = '', tensor_name: str | bytes = '', debug_urls: Sequence[str | bytes] = ..., lower_bound: float = ..., upper_bound: float = ..., mute_if_healthy: bool = False, gated_grpc: bool = False, name: str | None = None) -> Output:
        """Add a node of type DebugNumericSummary and return the Output."""
    def DebugNumericSummaryV2(self, input: TensorLike, /, *, output_dtype: DTypeLike = ..., T: DTypeLike | None = None, tensor_debug_mode: int = -1, tensor_id: int = -1, name: str | None = None) -> Output:
        """Add a node of type DebugNumericSummaryV2 and return the Output."""
    def DecodeAndCropJpeg(self, contents: TensorLike, crop_window: TensorLike, /, *, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, try_recover_truncated: bool = False, acceptable_fraction: float = 1.0, dct_method: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type DecodeAndCropJpeg and return the Output."""
    def DecodeBase64(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type DecodeBase64 and return the Output."""
    def DecodeBmp(self, contents: TensorLike, /, *, channels: int = 0, name: str | None = None) -> Output:
        """Add a node of type DecodeBmp and return the Output."""
    def DecodeCSV(self, records: TensorLike, record_defaults: Sequence[TensorLike], /, *, OUT_TYPE: Sequence[DTypeLike] | None = None, field_delim: str | bytes = ',', use_quote_delim: bool = True, na_value: str | bytes = '', select_cols: Sequence[int] = ..., name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type DecodeCSV and return a tuple of Outputs."""
    def DecodeCompressed(self, bytes: TensorLike, /, *, compression_type: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type DecodeCompressed and return the Output."""
    def DecodeGif(self, contents: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type DecodeGif and return the Output."""
    def DecodeImage(self, contents: TensorLike, /, *, channels: int = 0, dtype: DTypeLike = ..., expand_animations: bool = True, name: str | None = None) -> Output:
        """Add a node of type DecodeImage and return the Output."""
    def DecodeJSONExample(self, json_examples: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type DecodeJSONExample and return the Output."""
    def DecodeJpeg(self, contents: TensorLike, /, *, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, try_recover_truncated: bool = False, acceptable_fraction: float = 1.0, dct_method: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type DecodeJpeg and return the Output."""
    def DecodeJxl(self, contents: TensorLike, /, *, channels: int = 0, dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type DecodeJxl and return the Output."""
    def DecodePaddedRaw(self, input_bytes: TensorLike, fixed_length: TensorLike, /, *, out_type: DTypeLike, little_endian: bool = True, name: str | None = None) -> Output:
        """Add a node of type DecodePaddedRaw and return the Output."""
    def DecodePng(self, contents: TensorLike, /, *, channels: int = 0, dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type DecodePng and return the Output."""
    def DecodeProtoV2(self, bytes: TensorLike, /, *, message_type: str | bytes, field_names: Sequence[str | bytes], output_types: Sequence[DTypeLike], descriptor_source: str | bytes = 'local://', message_format: str | bytes = 'binary', sanitize: bool = False, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type DecodeProtoV2 and return a tuple of Outputs."""
    def DecodeRaw(self, bytes: TensorLike, /, *, out_type: DTypeLike, little_endian: bool = True, name: str | None = None) -> Output:
        """Add a node of type DecodeRaw and return the Output."""
    def DecodeWav(self, contents: TensorLike, /, *, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type DecodeWav and return a tuple of Outputs."""
    def DecodeWebP(self, contents: TensorLike, /, *, channels: int = 0, dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type DecodeWebP and return the Output."""
    def DeepCopy(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DeepCopy and return the Output."""
    def DefaultAttrs(self, *, string_val: str | bytes = 'abc', string_list_val: Sequence[str | bytes] = ..., int_val: int = 123, int_list_val: Sequence[int] = ..., float_val: float = 10.0, float_list_val: Sequence[float] = ..., bool_val: bool = True, bool_list_val: Sequence[bool] = ..., type_val: DTypeLike = ..., type_list_val: Sequence[DTypeLike] = ..., shape_val: ShapeLike = ..., shape_list_val: Sequence[ShapeLike] = ..., tensor_val: Tensor | ArrayLike = ..., tensor_list_val: Sequence[Tensor | ArrayLike] = ..., name: str | None = None) -> Node:
        """Add a node of type DefaultAttrs and return the Node."""
    def DeleteIterator(self, handle: OutputLike, deleter: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DeleteIterator and return the Node."""
    def DeleteMemoryCache(self, handle: OutputLike, deleter: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DeleteMemoryCache and return the Node."""
    def DeleteMultiDeviceIterator(self, multi_device_iterator: OutputLike, iterators: Sequence[OutputLike], deleter: OutputLike, /, *, N: int | None = None, name: str | None = None) -> Node:
        """Add a node of type DeleteMultiDeviceIterator and return the Node."""
    def DeleteRandomSeedGenerator(self, handle: OutputLike, deleter: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DeleteRandomSeedGenerator and return the Node."""
    def DeleteRpcFutureResource(self, handle: OutputLike, deleter: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DeleteRpcFutureResource and return the Node."""
    def DeleteSeedGenerator(self, handle: OutputLike, deleter: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DeleteSeedGenerator and return the Node."""
    def DeleteSessionTensor(self, handle: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DeleteSessionTensor and return the Node."""
    def DenseBincount(self, input: TensorLike, size: TensorLike, weights: TensorLike, /, *, Tidx: DTypeLike | None = None, T: DTypeLike | None = None, binary_output: bool = False, name: str | None = None) -> Output:
        """Add a node of type DenseBincount and return the Output."""
    def DenseCountSparseOutput(self, values: TensorLike, weights: TensorLike, /, *, binary_output: bool, T: DTypeLike | None = None, minlength: int = -1, maxlength: int = -1, output_type: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type DenseCountSparseOutput and return a tuple of Outputs."""
    def DenseToCSRSparseMatrix(self, dense_input: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DenseToCSRSparseMatrix and return the Output."""
    def DenseToDenseSetOperation(self, set1: TensorLike, set2: TensorLike, /, *, set_operation: str | bytes, validate_indices: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type DenseToDenseSetOperation and return a tuple of Outputs."""
    def DenseToSparseBatchDataset(self, input_dataset: OutputLike, batch_size: TensorLike, row_shape: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type DenseToSparseBatchDataset and return the Output."""
    def DenseToSparseSetOperation(self, set1: TensorLike, set2_indices: TensorLike, set2_values: TensorLike, set2_shape: TensorLike, /, *, set_operation: str | bytes, validate_indices: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type DenseToSparseSetOperation and return a tuple of Outputs."""
    def DepthToSpace(self, input: TensorLike, /, *, block_size: int, T: DTypeLike | None = None, data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] | bytes = 'NHWC', name: str | None = None) -> Output:
        """Add a node of type DepthToSpace and return the Output."""
    def DepthwiseConv2dNative(self, input: TensorLike, filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type DepthwiseConv2dNative and return the Output."""
    def DepthwiseConv2dNativeBackpropFilter(self, input: TensorLike, filter_sizes: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type DepthwiseConv2dNativeBackpropFilter and return the Output."""
    def DepthwiseConv2dNativeBackpropInput(self, input_sizes: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike | None = None, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type DepthwiseConv2dNativeBackpropInput and return the Output."""
    def Dequantize(self, input: TensorLike, min_range: TensorLike, max_range: TensorLike, /, *, T: DTypeLike | None = None, mode: Literal['MIN_COMBINED', 'MIN_FIRST', 'SCALED'] | bytes = 'MIN_COMBINED', narrow_range: bool = False, axis: int = -1, dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Dequantize and return the Output."""
    def DeserializeIterator(self, resource_handle: OutputLike, serialized: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DeserializeIterator and return the Node."""
    def DeserializeManySparse(self, serialized_sparse: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type DeserializeManySparse and return a tuple of Outputs."""
    def DeserializeSparse(self, serialized_sparse: TensorLike, /, *, dtype: DTypeLike, Tserialized: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type DeserializeSparse and return a tuple of Outputs."""
    def DestroyResourceOp(self, resource: OutputLike, /, *, ignore_lookup_error: bool = True, name: str | None = None) -> Node:
        """Add a node of type DestroyResourceOp and return the Node."""
    def DestroyTemporaryVariable(self, ref: OutputLike, /, *, var_name: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DestroyTemporaryVariable and return the Output."""
    def DeviceIndex(self, *, device_names: Sequence[str | bytes], name: str | None = None) -> Output:
        """Add a node of type DeviceIndex and return the Output."""
    def DevicePlacementOp(self, *, name: str | None = None) -> Output:
        """Add a node of type DevicePlacementOp and return the Output."""
    def Diag(self, diagonal: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Diag and return the Output."""
    def DiagPart(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DiagPart and return the Output."""
    def Digamma(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Digamma and return the Output."""
    def Dilation2D(self, input: TensorLike, filter: TensorLike, /, *, strides: Sequence[int], rates: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Dilation2D and return the Output."""
    def Dilation2DBackpropFilter(self, input: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], rates: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Dilation2DBackpropFilter and return the Output."""
    def Dilation2DBackpropInput(self, input: TensorLike, filter: TensorLike, out_backprop: TensorLike, /, *, strides: Sequence[int], rates: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Dilation2DBackpropInput and return the Output."""
    def DirectedInterleaveDataset(self, selector_input_dataset: OutputLike, data_input_datasets: Sequence[OutputLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, stop_on_empty_dataset: bool = False, name: str | None = None) -> Output:
        """Add a node of type DirectedInterleaveDataset and return the Output."""
    def DisableCopyOnRead(self, resource: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type DisableCopyOnRead and return the Node."""
    def DistributedSave(self, dataset: OutputLike, directory: TensorLike, address: TensorLike, /, *, metadata: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type DistributedSave and return the Node."""
    def Div(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Div and return the Output."""
    def DivNoNan(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DivNoNan and return the Output."""
    def DrawBoundingBoxes(self, images: TensorLike, boxes: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type DrawBoundingBoxes and return the Output."""
    def DrawBoundingBoxesV2(self, images: TensorLike, boxes: TensorLike, colors: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type DrawBoundingBoxesV2 and return the Output."""
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
        """Add a node of type DynamicEnqueueTPUEmbeddingArbitraryTensorBatch and return the Node."""
    def DynamicEnqueueTPUEmbeddingRaggedTensorBatch(self, sample_splits: Sequence[TensorLike], embedding_indices: Sequence[TensorLike], aggregation_weights: Sequence[TensorLike], mode_override: TensorLike, device_ordinal: TensorLike, /, *, table_ids: Sequence[int], T1: DTypeLike = ..., T2: DTypeLike = ..., T3: DTypeLike = ..., N: int | None = None, combiners: Sequence[str | bytes] = ..., max_sequence_lengths: Sequence[int] = ..., num_features: Sequence[int] = ..., name: str | None = None) -> Node:
        """Add a node of type DynamicEnqueueTPUEmbeddingRaggedTensorBatch and return the Node."""
    def DynamicPartition(self, data: TensorLike, partitions: TensorLike, /, *, num_partitions: int, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type DynamicPartition and return a tuple of Outputs."""
    def DynamicStitch(self, indices: Sequence[TensorLike], data: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type DynamicStitch and return the Output."""
    def EagerPyFunc(self, input: Sequence[TensorLike], /, *, token: str | bytes, Tout: Sequence[DTypeLike], is_async: bool = False, Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type EagerPyFunc and return a tuple of Outputs."""
    def EditDistance(self, hypothesis_indices: TensorLike, hypothesis_values: TensorLike, hypothesis_shape: TensorLike, truth_indices: TensorLike, truth_values: TensorLike, truth_shape: TensorLike, /, *, normalize: bool = True, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type EditDistance and return the Output."""
    def Eig(self, input: TensorLike, /, *, Tout: DTypeLike, compute_v: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type Eig and return a tuple of Outputs."""
    def Einsum(self, inputs: Sequence[TensorLike], /, *, equation: str | bytes, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Einsum and return the Output."""
    def Elu(self, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Elu and return the Output."""
    def EluGrad(self, gradients: TensorLike, outputs: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type EluGrad and return the Output."""
    def Empty(self, shape: TensorLike, /, *, dtype: DTypeLike, init: bool = False, name: str | None = None) -> Output:
        """Add a node of type Empty and return the Output."""
    def EmptyTensorList(self, element_shape: TensorLike, max_num_elements: TensorLike, /, *, element_dtype: DTypeLike, shape_type: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type EmptyTensorList and return the Output."""
    def EmptyTensorMap(self, *, name: str | None = None) -> Output:
        """Add a node of type EmptyTensorMap and return the Output."""
    def EncodeBase64(self, input: TensorLike, /, *, pad: bool = False, name: str | None = None) -> Output:
        """Add a node of type EncodeBase64 and return the Output."""
    def EncodeJpeg(self, image: TensorLike, /, *, format: Literal['', 'grayscale', 'rgb'] | bytes = '', quality: int = 95, progressive: bool = False, optimize_size: bool = False, chroma_downsampling: bool = True, density_unit: Literal['in', 'cm'] | bytes = 'in', x_density: int = 300, y_density: int = 300, xmp_metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type EncodeJpeg and return the Output."""
    def EncodeJpegVariableQuality(self, images: TensorLike, quality: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type EncodeJpegVariableQuality and return the Output."""
    def EncodePng(self, image: TensorLike, /, *, compression: int = -1, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type EncodePng and return the Output."""
    def EncodeProto(self, sizes: TensorLike, values: Sequence[TensorLike], /, *, field_names: Sequence[str | bytes], message_type: str | bytes, descriptor_source: str | bytes = 'local://', Tinput_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type EncodeProto and return the Output."""
    def EncodeWav(self, audio: TensorLike, sample_rate: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type EncodeWav and return the Output."""
    def EnqueueTPUEmbeddingArbitraryTensorBatch(self, sample_indices_or_row_splits: Sequence[TensorLike], embedding_indices: Sequence[TensorLike], aggregation_weights: Sequence[TensorLike], mode_override: TensorLike, /, *, T1: DTypeLike = ..., T2: DTypeLike = ..., T3: DTypeLike = ..., N: int | None = None, device_ordinal: int = -1, combiners: Sequence[str | bytes] = ..., name: str | None = None) -> Node:
        """Add a node of type EnqueueTPUEmbeddingArbitraryTensorBatch and return the Node."""
    def EnqueueTPUEmbeddingBatch(self, batch: Sequence[TensorLike], mode_override: TensorLike, /, *, N: int | None = None, device_ordinal: int = -1, combiners: Sequence[str | bytes] = ..., name: str | None = None) -> Node:
        """Add a node of type EnqueueTPUEmbeddingBatch and return the Node."""
    def EnqueueTPUEmbeddingIntegerBatch(self, batch: Sequence[TensorLike], mode_override: TensorLike, /, *, N: int | None = None, device_ordinal: int = -1, name: str | None = None) -> Node:
        """Add a node of type EnqueueTPUEmbeddingIntegerBatch and return the Node."""
    def EnqueueTPUEmbeddingRaggedTensorBatch(self, sample_splits: Sequence[TensorLike], embedding_indices: Sequence[TensorLike], aggregation_weights: Sequence[TensorLike], mode_override: TensorLike, /, *, table_ids: Sequence[int], T1: DTypeLike = ..., T2: DTypeLike = ..., T3: DTypeLike = ..., N: int | None = None, device_ordinal: int = -1, combiners: Sequence[str | bytes] = ..., max_sequence_lengths: Sequence[int] = ..., num_features: Sequence[int] = ..., name: str | None = None) -> Node:
        """Add a node of type EnqueueTPUEmbeddingRaggedTensorBatch and return the Node."""
    def EnqueueTPUEmbeddingSparseBatch(self, sample_indices: Sequence[TensorLike], embedding_indices: Sequence[TensorLike], aggregation_weights: Sequence[TensorLike], mode_override: TensorLike, /, *, T1: DTypeLike = ..., T2: DTypeLike = ..., T3: DTypeLike = ..., N: int | None = None, device_ordinal: int = -1, combiners: Sequence[str | bytes] = ..., name: str | None = None) -> Node:
        """Add a node of type EnqueueTPUEmbeddingSparseBatch and return the Node."""
    def EnqueueTPUEmbeddingSparseTensorBatch(self, sample_indices: Sequence[TensorLike], embedding_indices: Sequence[TensorLike], aggregation_weights: Sequence[TensorLike], mode_override: TensorLike, /, *, table_ids: Sequence[int], T1: DTypeLike = ..., T2: DTypeLike = ..., T3: DTypeLike = ..., N: int | None = None, device_ordinal: int = -1, combiners: Sequence[str | bytes] = ..., max_sequence_lengths: Sequence[int] = ..., num_features: Sequence[int] = ..., name: str | None = None) -> Node:
        """Add a node of type EnqueueTPUEmbeddingSparseTensorBatch and return the Node."""
    def EnsureShape(self, input: TensorLike, /, *, shape: ShapeLike, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type EnsureShape and return the Output."""
    def Enter(self, data: TensorLike, /, *, frame_name: str | bytes, T: DTypeLike | None = None, is_constant: bool = False, parallel_iterations: int = 10, name: str | None = None) -> Output:
        """Add a node of type Enter and return the Output."""
    def Equal(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, incompatible_shape_error: bool = True, name: str | None = None) -> Output:
        """Add a node of type Equal and return the Output."""
    def Erf(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Erf and return the Output."""
    def Erfc(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Erfc and return the Output."""
    def Erfinv(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Erfinv and return the Output."""
    def EuclideanNorm(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type EuclideanNorm and return the Output."""
    def ExecuteTPUEmbeddingPartitioner(self, *, config: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ExecuteTPUEmbeddingPartitioner and return the Output."""
    def Exit(self, data: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Exit and return the Output."""
    def Exp(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Exp and return the Output."""
    def ExpandDims(self, input: TensorLike, dim: TensorLike, /, *, T: DTypeLike | None = None, Tdim: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type ExpandDims and return the Output."""
    def ExperimentalAssertNextDataset(self, input_dataset: OutputLike, transformations: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalAssertNextDataset and return the Output."""
    def ExperimentalAutoShardDataset(self, input_dataset: OutputLike, num_workers: TensorLike, index: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], auto_shard_policy: int = 0, name: str | None = None) -> Output:
        """Add a node of type ExperimentalAutoShardDataset and return the Output."""
    def ExperimentalBytesProducedStatsDataset(self, input_dataset: OutputLike, tag: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalBytesProducedStatsDataset and return the Output."""
    def ExperimentalCSVDataset(self, filenames: TensorLike, compression_type: TensorLike, buffer_size: TensorLike, header: TensorLike, field_delim: TensorLike, use_quote_delim: TensorLike, na_value: TensorLike, select_cols: TensorLike, record_defaults: Sequence[TensorLike], /, *, output_shapes: Sequence[ShapeLike], output_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type ExperimentalCSVDataset and return the Output."""
    def ExperimentalChooseFastestDataset(self, input_datasets: Sequence[OutputLike], /, *, num_experiments: int, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, name: str | None = None) -> Output:
        """Add a node of type ExperimentalChooseFastestDataset and return the Output."""
    def ExperimentalDatasetCardinality(self, input_dataset: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ExperimentalDatasetCardinality and return the Output."""
    def ExperimentalDatasetToTFRecord(self, input_dataset: OutputLike, filename: TensorLike, compression_type: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ExperimentalDatasetToTFRecord and return the Node."""
    def ExperimentalDenseToSparseBatchDataset(self, input_dataset: OutputLike, batch_size: TensorLike, row_shape: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalDenseToSparseBatchDataset and return the Output."""
    def ExperimentalDirectedInterleaveDataset(self, selector_input_dataset: OutputLike, data_input_datasets: Sequence[OutputLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, name: str | None = None) -> Output:
        """Add a node of type ExperimentalDirectedInterleaveDataset and return the Output."""
    def ExperimentalGroupByReducerDataset(self, input_dataset: OutputLike, key_func_other_arguments: Sequence[TensorLike], init_func_other_arguments: Sequence[TensorLike], reduce_func_other_arguments: Sequence[TensorLike], finalize_func_other_arguments: Sequence[TensorLike], /, *, key_func: FuncRef | str, init_func: FuncRef | str, reduce_func: FuncRef | str, finalize_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tkey_func_other_arguments: Sequence[DTypeLike] | None = None, Tinit_func_other_arguments: Sequence[DTypeLike] | None = None, Treduce_func_other_arguments: Sequence[DTypeLike] | None = None, Tfinalize_func_other_arguments: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type ExperimentalGroupByReducerDataset and return the Output."""
    def ExperimentalGroupByWindowDataset(self, input_dataset: OutputLike, key_func_other_arguments: Sequence[TensorLike], reduce_func_other_arguments: Sequence[TensorLike], window_size_func_other_arguments: Sequence[TensorLike], /, *, key_func: FuncRef | str, reduce_func: FuncRef | str, window_size_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tkey_func_other_arguments: Sequence[DTypeLike] | None = None, Treduce_func_other_arguments: Sequence[DTypeLike] | None = None, Twindow_size_func_other_arguments: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type ExperimentalGroupByWindowDataset and return the Output."""
    def ExperimentalIgnoreErrorsDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], log_warning: bool = False, name: str | None = None) -> Output:
        """Add a node of type ExperimentalIgnoreErrorsDataset and return the Output."""
    def ExperimentalIteratorGetDevice(self, resource: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ExperimentalIteratorGetDevice and return the Output."""
    def ExperimentalLMDBDataset(self, filenames: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalLMDBDataset and return the Output."""
    def ExperimentalLatencyStatsDataset(self, input_dataset: OutputLike, tag: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalLatencyStatsDataset and return the Output."""
    def ExperimentalMapAndBatchDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], batch_size: TensorLike, num_parallel_calls: TensorLike, drop_remainder: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, preserve_cardinality: bool = False, name: str | None = None) -> Output:
        """Add a node of type ExperimentalMapAndBatchDataset and return the Output."""
    def ExperimentalMapDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, use_inter_op_parallelism: bool = True, preserve_cardinality: bool = False, force_synchronous: bool = False, name: str | None = None) -> Output:
        """Add a node of type ExperimentalMapDataset and return the Output."""
    def ExperimentalMatchingFilesDataset(self, patterns: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ExperimentalMatchingFilesDataset and return the Output."""
    def ExperimentalMaxIntraOpParallelismDataset(self, input_dataset: OutputLike, max_intra_op_parallelism: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalMaxIntraOpParallelismDataset and return the Output."""
    def ExperimentalNonSerializableDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalNonSerializableDataset and return the Output."""
    def ExperimentalParallelInterleaveDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, sloppy: TensorLike, buffer_output_elements: TensorLike, prefetch_input_elements: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type ExperimentalParallelInterleaveDataset and return the Output."""
    def ExperimentalParseExampleDataset(self, input_dataset: OutputLike, num_parallel_calls: TensorLike, dense_defaults: Sequence[TensorLike], /, *, sparse_keys: Sequence[str | bytes], dense_keys: Sequence[str | bytes], sparse_types: Sequence[DTypeLike], dense_shapes: Sequence[ShapeLike], output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tdense: Sequence[DTypeLike] | None = None, sloppy: bool = False, name: str | None = None) -> Output:
        """Add a node of type ExperimentalParseExampleDataset and return the Output."""
    def ExperimentalPrivateThreadPoolDataset(self, input_dataset: OutputLike, num_threads: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalPrivateThreadPoolDataset and return the Output."""
    def ExperimentalRandomDataset(self, seed: TensorLike, seed2: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalRandomDataset and return the Output."""
    def ExperimentalRebatchDataset(self, input_dataset: OutputLike, num_replicas: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], use_fallback: bool = True, name: str | None = None) -> Output:
        """Add a node of type ExperimentalRebatchDataset and return the Output."""
    def ExperimentalScanDataset(self, input_dataset: OutputLike, initial_state: Sequence[TensorLike], other_arguments: Sequence[TensorLike], /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tstate: Sequence[DTypeLike] | None = None, Targuments: Sequence[DTypeLike] | None = None, preserve_cardinality: bool = False, name: str | None = None) -> Output:
        """Add a node of type ExperimentalScanDataset and return the Output."""
    def ExperimentalSetStatsAggregatorDataset(self, input_dataset: OutputLike, stats_aggregator: OutputLike, tag: TensorLike, counter_prefix: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalSetStatsAggregatorDataset and return the Output."""
    def ExperimentalSleepDataset(self, input_dataset: OutputLike, sleep_microseconds: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalSleepDataset and return the Output."""
    def ExperimentalSlidingWindowDataset(self, input_dataset: OutputLike, window_size: TensorLike, window_shift: TensorLike, window_stride: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalSlidingWindowDataset and return the Output."""
    def ExperimentalSqlDataset(self, driver_name: TensorLike, data_source_name: TensorLike, query: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalSqlDataset and return the Output."""
    def ExperimentalStatsAggregatorHandle(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ExperimentalStatsAggregatorHandle and return the Output."""
    def ExperimentalStatsAggregatorSummary(self, iterator: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ExperimentalStatsAggregatorSummary and return the Output."""
    def ExperimentalTakeWhileDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], /, *, predicate: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type ExperimentalTakeWhileDataset and return the Output."""
    def ExperimentalThreadPoolDataset(self, input_dataset: OutputLike, thread_pool: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalThreadPoolDataset and return the Output."""
    def ExperimentalThreadPoolHandle(self, *, num_threads: int, display_name: str | bytes, max_intra_op_parallelism: int = 1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ExperimentalThreadPoolHandle and return the Output."""
    def ExperimentalUnbatchDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalUnbatchDataset and return the Output."""
    def ExperimentalUniqueDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ExperimentalUniqueDataset and return the Output."""
    def Expint(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Expint and return the Output."""
    def Expm1(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Expm1 and return the Output."""
    def ExtractGlimpse(self, input: TensorLike, size: TensorLike, offsets: TensorLike, /, *, centered: bool = True, normalized: bool = True, uniform_noise: bool = True, noise: str | bytes = 'uniform', name: str | None = None) -> Output:
        """Add a node of type ExtractGlimpse and return the Output."""
    def ExtractGlimpseV2(self, input: TensorLike, size: TensorLike, offsets: TensorLike, /, *, centered: bool = True, normalized: bool = True, uniform_noise: bool = True, noise: str | bytes = 'uniform', name: str | None = None) -> Output:
        """Add a node of type ExtractGlimpseV2 and return the Output."""
    def ExtractImagePatches(self, images: TensorLike, /, *, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ExtractImagePatches and return the Output."""
    def ExtractJpegShape(self, contents: TensorLike, /, *, output_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type ExtractJpegShape and return the Output."""
    def ExtractVolumePatches(self, input: TensorLike, /, *, ksizes: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ExtractVolumePatches and return the Output."""
    def FFT(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type FFT and return the Output."""
    def FFT2D(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type FFT2D and return the Output."""
    def FFT3D(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type FFT3D and return the Output."""
    def FFTND(self, input: TensorLike, fft_length: TensorLike, axes: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type FFTND and return the Output."""
    def FIFOQueue(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type FIFOQueue and return the Output."""
    def FIFOQueueV2(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type FIFOQueueV2 and return the Output."""
    def Fact(self, *, name: str | None = None) -> Output:
        """Add a node of type Fact and return the Output."""
    def FakeParam(self, *, dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Output:
        """Add a node of type FakeParam and return the Output."""
    def FakeQuantWithMinMaxArgs(self, inputs: TensorLike, /, *, min: float = -6.0, max: float = 6.0, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Output:
        """Add a node of type FakeQuantWithMinMaxArgs and return the Output."""
    def FakeQuantWithMinMaxArgsGradient(self, gradients: TensorLike, inputs: TensorLike, /, *, min: float = -6.0, max: float = 6.0, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Output:
        """Add a node of type FakeQuantWithMinMaxArgsGradient and return the Output."""
    def FakeQuantWithMinMaxVars(self, inputs: TensorLike, min: TensorLike, max: TensorLike, /, *, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Output:
        """Add a node of type FakeQuantWithMinMaxVars and return the Output."""
    def FakeQuantWithMinMaxVarsGradient(self, gradients: TensorLike, inputs: TensorLike, min: TensorLike, max: TensorLike, /, *, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type FakeQuantWithMinMaxVarsGradient and return a tuple of Outputs."""
    def FakeQuantWithMinMaxVarsPerChannel(self, inputs: TensorLike, min: TensorLike, max: TensorLike, /, *, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Output:
        """Add a node of type FakeQuantWithMinMaxVarsPerChannel and return the Output."""
    def FakeQuantWithMinMaxVarsPerChannelGradient(self, gradients: TensorLike, inputs: TensorLike, min: TensorLike, max: TensorLike, /, *, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type FakeQuantWithMinMaxVarsPerChannelGradient and return a tuple of Outputs."""
    def FakeQueue(self, resource: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type FakeQueue and return the Output."""
    def FileSystemSetConfiguration(self, scheme: TensorLike, key: TensorLike, value: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type FileSystemSetConfiguration and return the Node."""
    def Fill(self, dims: TensorLike, value: TensorLike, /, *, T: DTypeLike | None = None, index_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Fill and return the Output."""
    def FilterByLastComponentDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type FilterByLastComponentDataset and return the Output."""
    def FilterDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], /, *, predicate: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type FilterDataset and return the Output."""
    def FinalizeDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], has_captured_ref: bool = False, name: str | None = None) -> Output:
        """Add a node of type FinalizeDataset and return the Output."""
    def FinalizeTPUEmbedding(self, common_config: TensorLike, memory_config: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type FinalizeTPUEmbedding and return the Node."""
    def FinalizeTPUEmbeddingV2(self, common_config: TensorLike, memory_config: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type FinalizeTPUEmbeddingV2 and return a tuple of Outputs."""
    def Fingerprint(self, data: TensorLike, method: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Fingerprint and return the Output."""
    def FiveFloatOutputs(self, *, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type FiveFloatOutputs and return a tuple of Outputs."""
    def FixedLengthRecordDataset(self, filenames: TensorLike, header_bytes: TensorLike, record_bytes: TensorLike, footer_bytes: TensorLike, buffer_size: TensorLike, /, *, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type FixedLengthRecordDataset and return the Output."""
    def FixedLengthRecordDatasetV2(self, filenames: TensorLike, header_bytes: TensorLike, record_bytes: TensorLike, footer_bytes: TensorLike, buffer_size: TensorLike, compression_type: TensorLike, /, *, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type FixedLengthRecordDatasetV2 and return the Output."""
    def FixedLengthRecordReader(self, *, record_bytes: int, header_bytes: int = 0, footer_bytes: int = 0, hop_bytes: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type FixedLengthRecordReader and return the Output."""
    def FixedLengthRecordReaderV2(self, *, record_bytes: int, header_bytes: int = 0, footer_bytes: int = 0, hop_bytes: int = 0, container: str | bytes = '', shared_name: str | bytes = '', encoding: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type FixedLengthRecordReaderV2 and return the Output."""
    def FixedUnigramCandidateSampler(self, true_classes: TensorLike, /, *, num_true: int, num_sampled: int, unique: bool, range_max: int, vocab_file: str | bytes = '', distortion: float = 1.0, num_reserved_ids: int = 0, num_shards: int = 1, shard: int = 0, unigrams: Sequence[float] = ..., seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type FixedUnigramCandidateSampler and return a tuple of Outputs."""
    def FlatMapDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type FlatMapDataset and return the Output."""
    def FloatInput(self, a: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type FloatInput and return the Node."""
    def FloatOutput(self, *, name: str | None = None) -> Output:
        """Add a node of type FloatOutput and return the Output."""
    def FloatOutputStringOutput(self, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type FloatOutputStringOutput and return a tuple of Outputs."""
    def Floor(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Floor and return the Output."""
    def FloorDiv(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type FloorDiv and return the Output."""
    def FloorMod(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type FloorMod and return the Output."""
    def FlushSummaryWriter(self, writer: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type FlushSummaryWriter and return the Node."""
    def Foo1(self, a: TensorLike, b: TensorLike, c: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type Foo1 and return a tuple of Outputs."""
    def Foo2(self, a: TensorLike, b: TensorLike, c: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type Foo2 and return a tuple of Outputs."""
    def Foo3(self, a: TensorLike, b: TensorLike, c: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type Foo3 and return a tuple of Outputs."""
    def For(self, start: TensorLike, limit: TensorLike, delta: TensorLike, input: Sequence[TensorLike], /, *, body: FuncRef | str, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type For and return a tuple of Outputs."""
    def FractionalAvgPool(self, value: TensorLike, /, *, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type FractionalAvgPool and return a tuple of Outputs."""
    def FractionalAvgPoolGrad(self, orig_input_tensor_shape: TensorLike, out_backprop: TensorLike, row_pooling_sequence: TensorLike, col_pooling_sequence: TensorLike, /, *, overlapping: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type FractionalAvgPoolGrad and return the Output."""
    def FractionalMaxPool(self, value: TensorLike, /, *, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type FractionalMaxPool and return a tuple of Outputs."""
    def FractionalMaxPoolGrad(self, orig_input: TensorLike, orig_output: TensorLike, out_backprop: TensorLike, row_pooling_sequence: TensorLike, col_pooling_sequence: TensorLike, /, *, overlapping: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type FractionalMaxPoolGrad and return the Output."""
    def FresnelCos(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type FresnelCos and return the Output."""
    def FresnelSin(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type FresnelSin and return the Output."""
    def FuncAttr(self, *, f: FuncRef | str, name: str | None = None) -> Node:
        """Add a node of type FuncAttr and return the Node."""
    def FuncListAttr(self, *, f: Sequence[FuncRef | str], name: str | None = None) -> Node:
        """Add a node of type FuncListAttr and return the Node."""
    def FusedBatchNorm(self, x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike, variance: TensorLike, /, *, T: DTypeLike | None = None, epsilon: float = 9.999999747378752e-05, exponential_avg_factor: float = 1.0, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type FusedBatchNorm and return a tuple of Outputs."""
    def FusedBatchNormGrad(self, y_backprop: TensorLike, x: TensorLike, scale: TensorLike, reserve_space_1: TensorLike, reserve_space_2: TensorLike, /, *, T: DTypeLike | None = None, epsilon: float = 9.999999747378752e-05, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type FusedBatchNormGrad and return a tuple of Outputs."""
    def FusedBatchNormGradV2(self, y_backprop: TensorLike, x: TensorLike, scale: TensorLike, reserve_space_1: TensorLike, reserve_space_2: TensorLike, /, *, T: DTypeLike | None = None, U: DTypeLike | None = None, epsilon: float = 9.999999747378752e-05, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type FusedBatchNormGradV2 and return a tuple of Outputs."""
    def FusedBatchNormGradV3(self, y_backprop: TensorLike, x: TensorLike, scale: TensorLike, reserve_space_1: TensorLike, reserve_space_2: TensorLike, reserve_space_3: TensorLike, /, *, T: DTypeLike | None = None, U: DTypeLike | None = None, epsilon: float = 9.999999747378752e-05, data_format: Literal['NHWC', 'NCHW', 'NDHWC', 'NCDHW'] | bytes = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type FusedBatchNormGradV3 and return a tuple of Outputs."""
    def FusedBatchNormV2(self, x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike, variance: TensorLike, /, *, T: DTypeLike | None = None, U: DTypeLike | None = None, epsilon: float = 9.999999747378752e-05, exponential_avg_factor: float = 1.0, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type FusedBatchNormV2 and return a tuple of Outputs."""
    def FusedBatchNormV3(self, x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike, variance: TensorLike, /, *, T: DTypeLike | None = None, U: DTypeLike | None = None, epsilon: float = 9.999999747378752e-05, exponential_avg_factor: float = 1.0, data_format: Literal['NHWC', 'NCHW', 'NDHWC', 'NCDHW'] | bytes = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output]:
        """Add a node of type FusedBatchNormV3 and return a tuple of Outputs."""
    def FusedPadConv2D(self, input: TensorLike, paddings: TensorLike, filter: TensorLike, /, *, mode: Literal['REFLECT', 'SYMMETRIC'] | bytes, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type FusedPadConv2D and return the Output."""
    def FusedResizeAndPadConv2D(self, input: TensorLike, size: TensorLike, paddings: TensorLike, filter: TensorLike, /, *, mode: Literal['REFLECT', 'SYMMETRIC'] | bytes, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, resize_align_corners: bool = False, name: str | None = None) -> Output:
        """Add a node of type FusedResizeAndPadConv2D and return the Output."""
    def GRUBlockCell(self, x: TensorLike, h_prev: TensorLike, w_ru: TensorLike, w_c: TensorLike, b_ru: TensorLike, b_c: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type GRUBlockCell and return a tuple of Outputs."""
    def GRUBlockCellGrad(self, x: TensorLike, h_prev: TensorLike, w_ru: TensorLike, w_c: TensorLike, b_ru: TensorLike, b_c: TensorLike, r: TensorLike, u: TensorLike, c: TensorLike, d_h: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type GRUBlockCellGrad and return a tuple of Outputs."""
    def Gather(self, params: TensorLike, indices: TensorLike, /, *, validate_indices: bool = True, Tparams: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Gather and return the Output."""
    def GatherNd(self, params: TensorLike, indices: TensorLike, /, *, Tparams: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type GatherNd and return the Output."""
    def GatherV2(self, params: TensorLike, indices: TensorLike, axis: TensorLike, /, *, batch_dims: int = 0, Tparams: DTypeLike | None = None, Tindices: DTypeLike | None = None, Taxis: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type GatherV2 and return the Output."""
    def GenerateBoundingBoxProposals(self, scores: TensorLike, bbox_deltas: TensorLike, image_info: TensorLike, anchors: TensorLike, nms_threshold: TensorLike, pre_nms_topn: TensorLike, min_size: TensorLike, /, *, post_nms_topn: int = 300, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type GenerateBoundingBoxProposals and return a tuple of Outputs."""
    def GenerateVocabRemapping(self, new_vocab_file: TensorLike, old_vocab_file: TensorLike, /, *, new_vocab_offset: int, num_new_vocab: int, old_vocab_size: int = -1, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type GenerateVocabRemapping and return a tuple of Outputs."""
    def GeneratorDataset(self, init_func_other_args: Sequence[TensorLike], next_func_other_args: Sequence[TensorLike], finalize_func_other_args: Sequence[TensorLike], /, *, init_func: FuncRef | str, next_func: FuncRef | str, finalize_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tinit_func_args: Sequence[DTypeLike] | None = None, Tnext_func_args: Sequence[DTypeLike] | None = None, Tfinalize_func_args: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type GeneratorDataset and return the Output."""
    def GetDeadline(self, *, name: str | None = None) -> Output:
        """Add a node of type GetDeadline and return the Output."""
    def GetElementAtIndex(self, dataset: OutputLike, index: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type GetElementAtIndex and return a tuple of Outputs."""
    def GetMinibatchSplitsWithPhysicalReplica(self, program_key: TensorLike, row_ids: TensorLike, col_ids: TensorLike, gains: TensorLike, /, *, sample_count: int, num_replica: int, table_vocab_size: int, feature_width: int, num_sc_per_chip: int, table_name: str | bytes, mini_batch_splits: str | bytes, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type GetMinibatchSplitsWithPhysicalReplica and return a tuple of Outputs."""
    def GetMinibatchesInCsrWithPhysicalReplica(self, program_key: TensorLike, row_ids: TensorLike, col_ids: TensorLike, gains: TensorLike, splits: TensorLike, id_counts: TensorLike, /, *, sample_count: int, num_replica: int, max_minibatches_per_sc: int, max_ids_per_chip_per_sample: int, table_vocab_size: int, feature_width: int, num_sc_per_chip: int, table_name: str | bytes, mini_batch_in_csr: str | bytes, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type GetMinibatchesInCsrWithPhysicalReplica and return a tuple of Outputs."""
    def GetOptions(self, input_dataset: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type GetOptions and return the Output."""
    def GetSessionHandle(self, value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type GetSessionHandle and return the Output."""
    def GetSessionHandleV2(self, value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type GetSessionHandleV2 and return the Output."""
    def GetSessionTensor(self, handle: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type GetSessionTensor and return the Output."""
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
        """Add a node of type Greater and return the Output."""
    def GreaterEqual(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type GreaterEqual and return the Output."""
    def GroupByReducerDataset(self, input_dataset: OutputLike, key_func_other_arguments: Sequence[TensorLike], init_func_other_arguments: Sequence[TensorLike], reduce_func_other_arguments: Sequence[TensorLike], finalize_func_other_arguments: Sequence[TensorLike], /, *, key_func: FuncRef | str, init_func: FuncRef | str, reduce_func: FuncRef | str, finalize_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tkey_func_other_arguments: Sequence[DTypeLike] | None = None, Tinit_func_other_arguments: Sequence[DTypeLike] | None = None, Treduce_func_other_arguments: Sequence[DTypeLike] | None = None, Tfinalize_func_other_arguments: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type GroupByReducerDataset and return the Output."""
    def GroupByWindowDataset(self, input_dataset: OutputLike, key_func_other_arguments: Sequence[TensorLike], reduce_func_other_arguments: Sequence[TensorLike], window_size_func_other_arguments: Sequence[TensorLike], /, *, key_func: FuncRef | str, reduce_func: FuncRef | str, window_size_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tkey_func_other_arguments: Sequence[DTypeLike] | None = None, Treduce_func_other_arguments: Sequence[DTypeLike] | None = None, Twindow_size_func_other_arguments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type GroupByWindowDataset and return the Output."""
    def GuaranteeConst(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type GuaranteeConst and return the Output."""
    def HSVToRGB(self, images: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type HSVToRGB and return the Output."""
    def HashTable(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, name: str | None = None) -> Output:
        """Add a node of type HashTable and return the Output."""
    def HashTableV2(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, name: str | None = None) -> Output:
        """Add a node of type HashTableV2 and return the Output."""
    def HistogramFixedWidth(self, values: TensorLike, value_range: TensorLike, nbins: TensorLike, /, *, T: DTypeLike | None = None, dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type HistogramFixedWidth and return the Output."""
    def HistogramSummary(self, tag: TensorLike, values: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type HistogramSummary and return the Output."""
    def HostConst(self, *, value: Tensor | ArrayLike, dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type HostConst and return the Output."""
    def IFFT(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type IFFT and return the Output."""
    def IFFT2D(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type IFFT2D and return the Output."""
    def IFFT3D(self, input: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type IFFT3D and return the Output."""
    def IFFTND(self, input: TensorLike, fft_length: TensorLike, axes: TensorLike, /, *, Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type IFFTND and return the Output."""
    def IRFFT(self, input: TensorLike, fft_length: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type IRFFT and return the Output."""
    def IRFFT2D(self, input: TensorLike, fft_length: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type IRFFT2D and return the Output."""
    def IRFFT3D(self, input: TensorLike, fft_length: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type IRFFT3D and return the Output."""
    def IRFFTND(self, input: TensorLike, fft_length: TensorLike, axes: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type IRFFTND and return the Output."""
    def Identity(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Identity and return the Output."""
    def IdentityN(self, input: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type IdentityN and return a tuple of Outputs."""
    def IdentityReader(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type IdentityReader and return the Output."""
    def IdentityReaderV2(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type IdentityReaderV2 and return the Output."""
    def If(self, cond: TensorLike, input: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], then_branch: FuncRef | str, else_branch: FuncRef | str, Tcond: DTypeLike | None = None, Tin: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """Add a node of type If and return a tuple of Outputs."""
    def Igamma(self, a: TensorLike, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Igamma and return the Output."""
    def IgammaGradA(self, a: TensorLike, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type IgammaGradA and return the Output."""
    def Igammac(self, a: TensorLike, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Igammac and return the Output."""
    def IgnoreErrorsDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], log_warning: bool = False, name: str | None = None) -> Output:
        """Add a node of type IgnoreErrorsDataset and return the Output."""
    def Imag(self, input: TensorLike, /, *, T: DTypeLike = ..., Tout: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Imag and return the Output."""
    def ImageProjectiveTransformV2(self, images: TensorLike, transforms: TensorLike, output_shape: TensorLike, /, *, interpolation: str | bytes, dtype: DTypeLike | None = None, fill_mode: str | bytes = 'CONSTANT', name: str | None = None) -> Output:
        """Add a node of type ImageProjectiveTransformV2 and return the Output."""
    def ImageProjectiveTransformV3(self, images: TensorLike, transforms: TensorLike, output_shape: TensorLike, fill_value: TensorLike, /, *, interpolation: str | bytes, dtype: DTypeLike | None = None, fill_mode: str | bytes = 'CONSTANT', name: str | None = None) -> Output:
        """Add a node of type ImageProjectiveTransformV3 and return the Output."""
    def ImageSummary(self, tag: TensorLike, tensor: TensorLike, /, *, max_images: int = 3, T: DTypeLike = ..., bad_color: Tensor | ArrayLike = ..., name: str | None = None) -> Output:
        """Add a node of type ImageSummary and return the Output."""
    def ImmutableConst(self, *, dtype: DTypeLike, shape: ShapeLike, memory_region_name: str | bytes, name: str | None = None) -> Output:
        """Add a node of type ImmutableConst and return the Output."""
    def ImportEvent(self, writer: OutputLike, event: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ImportEvent and return the Node."""
    def InPolymorphicTwice(self, a: Sequence[TensorLike], b: Sequence[TensorLike], /, *, T: DTypeLike = ..., N: int | None = None, M: int | None = None, name: str | None = None) -> Node:
        """Add a node of type InPolymorphicTwice and return the Node."""
    def InTopK(self, predictions: TensorLike, targets: TensorLike, /, *, k: int, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type InTopK and return the Output."""
    def InTopKV2(self, predictions: TensorLike, targets: TensorLike, k: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type InTopKV2 and return the Output."""
    def IndexFlatMapDataset(self, input_dataset: OutputLike, map_func_other_args: Sequence[TensorLike], index_map_func_other_args: Sequence[TensorLike], output_cardinality: TensorLike, /, *, map_func: FuncRef | str, index_map_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tmap_func_args: Sequence[DTypeLike] | None = None, Tindex_map_func_args: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type IndexFlatMapDataset and return the Output."""
    def InfeedDequeue(self, *, dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Output:
        """Add a node of type InfeedDequeue and return the Output."""
    def InfeedDequeueTuple(self, *, dtypes: Sequence[DTypeLike], shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type InfeedDequeueTuple and return a tuple of Outputs."""
    def InfeedEnqueue(self, input: TensorLike, /, *, dtype: DTypeLike | None = None, shape: ShapeLike = ..., layout: Sequence[int] = ..., device_ordinal: int = -1, name: str | None = None) -> Node:
        """Add a node of type InfeedEnqueue and return the Node."""
    def InfeedEnqueuePrelinearizedBuffer(self, input: OutputLike, /, *, device_ordinal: int = -1, name: str | None = None) -> Node:
        """Add a node of type InfeedEnqueuePrelinearizedBuffer and return the Node."""
    def InfeedEnqueueTuple(self, inputs: Sequence[TensorLike], /, *, shapes: Sequence[ShapeLike], dtypes: Sequence[DTypeLike] | None = None, layouts: Sequence[int] = ..., device_ordinal: int = -1, name: str | None = None) -> Node:
        """Add a node of type InfeedEnqueueTuple and return the Node."""
    def InitializeTable(self, table_handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, Tkey: DTypeLike | None = None, Tval: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type InitializeTable and return the Node."""
    def InitializeTableFromDataset(self, table_handle: OutputLike, dataset: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type InitializeTableFromDataset and return the Node."""
    def InitializeTableFromTextFile(self, table_handle: OutputLike, filename: TensorLike, /, *, key_index: int, value_index: int, vocab_size: int = -1, delimiter: str | bytes = '\t', offset: int = 0, name: str | None = None) -> Node:
        """Add a node of type InitializeTableFromTextFile and return the Node."""
    def InitializeTableFromTextFileV2(self, table_handle: OutputLike, filename: TensorLike, /, *, key_index: int, value_index: int, vocab_size: int = -1, delimiter: str | bytes = '\t', offset: int = 0, name: str | None = None) -> Node:
        """Add a node of type InitializeTableFromTextFileV2 and return the Node."""
    def InitializeTableV2(self, table_handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, Tkey: DTypeLike | None = None, Tval: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type InitializeTableV2 and return the Node."""
    def InplaceAdd(self, x: TensorLike, i: TensorLike, v: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type InplaceAdd and return the Output."""
    def InplaceSub(self, x: TensorLike, i: TensorLike, v: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type InplaceSub and return the Output."""
    def InplaceUpdate(self, x: TensorLike, i: TensorLike, v: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type InplaceUpdate and return the Output."""
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
        """Add a node of type InterleaveDataset and return the Output."""
    def Inv(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Inv and return the Output."""
    def InvGrad(self, y: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type InvGrad and return the Output."""
    def Invert(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Invert and return the Output."""
    def InvertPermutation(self, x: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type InvertPermutation and return the Output."""
    def IsBoostedTreesEnsembleInitialized(self, tree_ensemble_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type IsBoostedTreesEnsembleInitialized and return the Output."""
    def IsBoostedTreesQuantileStreamResourceInitialized(self, quantile_stream_resource_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type IsBoostedTreesQuantileStreamResourceInitialized and return the Output."""
    def IsFinite(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type IsFinite and return the Output."""
    def IsInf(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type IsInf and return the Output."""
    def IsNan(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type IsNan and return the Output."""
    def IsResourceHandleRefCounting(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type IsResourceHandleRefCounting and return the Output."""
    def IsTPUEmbeddingInitialized(self, *, config: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type IsTPUEmbeddingInitialized and return the Output."""
    def IsTensorFloat32Enabled(self, *, name: str | None = None) -> Output:
        """Add a node of type IsTensorFloat32Enabled and return the Output."""
    def IsVariableInitialized(self, ref: OutputLike, /, *, dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type IsVariableInitialized and return the Output."""
    def IsotonicRegression(self, input: TensorLike, /, *, T: DTypeLike | None = None, output_dtype: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type IsotonicRegression and return a tuple of Outputs."""
    def Iterator(self, *, shared_name: str | bytes, container: str | bytes, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type Iterator and return the Output."""
    def IteratorFromStringHandle(self, string_handle: TensorLike, /, *, output_types: Sequence[DTypeLike] = ..., output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> Output:
        """Add a node of type IteratorFromStringHandle and return the Output."""
    def IteratorFromStringHandleV2(self, string_handle: TensorLike, /, *, output_types: Sequence[DTypeLike] = ..., output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> Output:
        """Add a node of type IteratorFromStringHandleV2 and return the Output."""
    def IteratorGetDevice(self, resource: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type IteratorGetDevice and return the Output."""
    def IteratorGetModelProto(self, iterator: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type IteratorGetModelProto and return the Output."""
    def IteratorGetNext(self, iterator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type IteratorGetNext and return a tuple of Outputs."""
    def IteratorGetNextAsOptional(self, iterator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type IteratorGetNextAsOptional and return the Output."""
    def IteratorGetNextSync(self, iterator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type IteratorGetNextSync and return a tuple of Outputs."""
    def IteratorToStringHandle(self, resource_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type IteratorToStringHandle and return the Output."""
    def IteratorV2(self, *, shared_name: str | bytes, container: str | bytes, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type IteratorV2 and return the Output."""
    def KMC2ChainInitialization(self, distances: TensorLike, seed: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type KMC2ChainInitialization and return the Output."""
    def KernelLabel(self, *, name: str | None = None) -> Output:
        """Add a node of type KernelLabel and return the Output."""
    def KernelLabelRequired(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type KernelLabelRequired and return the Output."""
    def KmeansPlusPlusInitialization(self, points: TensorLike, num_to_sample: TensorLike, seed: TensorLike, num_retries_per_sample: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type KmeansPlusPlusInitialization and return the Output."""
    def KthOrderStatistic(self, input: TensorLike, /, *, k: int, name: str | None = None) -> Output:
        """Add a node of type KthOrderStatistic and return the Output."""
    def L2Loss(self, t: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type L2Loss and return the Output."""
    def LMDBDataset(self, filenames: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type LMDBDataset and return the Output."""
    def LMDBReader(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type LMDBReader and return the Output."""
    def LRN(self, input: TensorLike, /, *, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type LRN and return the Output."""
    def LRNGrad(self, input_grads: TensorLike, input_image: TensorLike, output_image: TensorLike, /, *, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type LRNGrad and return the Output."""
    def LSTMBlockCell(self, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, /, *, forget_bias: float = 1.0, cell_clip: float = 3.0, use_peephole: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type LSTMBlockCell and return a tuple of Outputs."""
    def LSTMBlockCellGrad(self, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, i: TensorLike, cs: TensorLike, f: TensorLike, o: TensorLike, ci: TensorLike, co: TensorLike, cs_grad: TensorLike, h_grad: TensorLike, /, *, use_peephole: bool, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output, Output]:
        """Add a node of type LSTMBlockCellGrad and return a tuple of Outputs."""
    def LatencyStatsDataset(self, input_dataset: OutputLike, tag: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type LatencyStatsDataset and return the Output."""
    def LeakyRelu(self, features: TensorLike, /, *, alpha: float = 0.20000000298023224, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type LeakyRelu and return the Output."""
    def LeakyReluGrad(self, gradients: TensorLike, features: TensorLike, /, *, alpha: float = 0.20000000298023224, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type LeakyReluGrad and return the Output."""
    def LearnedUnigramCandidateSampler(self, true_classes: TensorLike, /, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type LearnedUnigramCandidateSampler and return a tuple of Outputs."""
    def LeftShift(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type LeftShift and return the Output."""
    def LegacyParallelInterleaveDatasetV2(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, buffer_output_elements: TensorLike, prefetch_input_elements: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], deterministic: str | bytes = 'default', Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type LegacyParallelInterleaveDatasetV2 and return the Output."""
    def Less(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Less and return the Output."""
    def LessEqual(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type LessEqual and return the Output."""
    def Lgamma(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Lgamma and return the Output."""
    def LinSpace(self, start: TensorLike, stop: TensorLike, num: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type LinSpace and return the Output."""
    def ListDataset(self, tensors: Sequence[TensorLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tinput_types: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ListDataset and return the Output."""
    def ListDiff(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, out_idx: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type ListDiff and return a tuple of Outputs."""
    def ListInput(self, a: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type ListInput and return the Node."""
    def ListOutput(self, *, T: Sequence[DTypeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type ListOutput and return a tuple of Outputs."""
    def ListSnapshotChunksDataset(self, snapshot_path: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ListSnapshotChunksDataset and return the Output."""
    def LoadAllTPUEmbeddingParameters(self, parameters: Sequence[TensorLike], auxiliary1: Sequence[TensorLike], auxiliary2: Sequence[TensorLike], auxiliary3: Sequence[TensorLike], auxiliary4: Sequence[TensorLike], auxiliary5: Sequence[TensorLike], auxiliary6: Sequence[TensorLike], auxiliary7: Sequence[TensorLike], /, *, config: str | bytes, num_shards: int, shard_id: int, NumTables: int | None = None, name: str | None = None) -> Node:
        """Add a node of type LoadAllTPUEmbeddingParameters and return the Node."""
    def LoadAndRemapMatrix(self, ckpt_path: TensorLike, old_tensor_name: TensorLike, row_remapping: TensorLike, col_remapping: TensorLike, initializing_values: TensorLike, /, *, num_rows: int, num_cols: int, max_rows_in_memory: int = -1, name: str | None = None) -> Output:
        """Add a node of type LoadAndRemapMatrix and return the Output."""
    def LoadDataset(self, path: TensorLike, reader_func_other_args: Sequence[TensorLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reader_func: FuncRef | str, compression: str | bytes = '', Treader_func_args: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type LoadDataset and return the Output."""
    def LoadTPUEmbeddingADAMParameters(self, parameters: TensorLike, momenta: TensorLike, velocities: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingADAMParameters and return the Node."""
    def LoadTPUEmbeddingAdadeltaParameters(self, parameters: TensorLike, accumulators: TensorLike, updates: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingAdadeltaParameters and return the Node."""
    def LoadTPUEmbeddingAdagradMomentumParameters(self, parameters: TensorLike, accumulators: TensorLike, momenta: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingAdagradMomentumParameters and return the Node."""
    def LoadTPUEmbeddingAdagradParameters(self, parameters: TensorLike, accumulators: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingAdagradParameters and return the Node."""
    def LoadTPUEmbeddingCenteredRMSPropParameters(self, parameters: TensorLike, ms: TensorLike, mom: TensorLike, mg: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingCenteredRMSPropParameters and return the Node."""
    def LoadTPUEmbeddingFTRLParameters(self, parameters: TensorLike, accumulators: TensorLike, linears: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingFTRLParameters and return the Node."""
    def LoadTPUEmbeddingFrequencyEstimatorParameters(self, parameters: TensorLike, last_hit_step: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingFrequencyEstimatorParameters and return the Node."""
    def LoadTPUEmbeddingMDLAdagradLightParameters(self, parameters: TensorLike, accumulators: TensorLike, weights: TensorLike, benefits: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingMDLAdagradLightParameters and return the Node."""
    def LoadTPUEmbeddingMomentumParameters(self, parameters: TensorLike, momenta: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingMomentumParameters and return the Node."""
    def LoadTPUEmbeddingProximalAdagradParameters(self, parameters: TensorLike, accumulators: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingProximalAdagradParameters and return the Node."""
    def LoadTPUEmbeddingProximalYogiParameters(self, parameters: TensorLike, v: TensorLike, m: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingProximalYogiParameters and return the Node."""
    def LoadTPUEmbeddingRMSPropParameters(self, parameters: TensorLike, ms: TensorLike, mom: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingRMSPropParameters and return the Node."""
    def LoadTPUEmbeddingStochasticGradientDescentParameters(self, parameters: TensorLike, /, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type LoadTPUEmbeddingStochasticGradientDescentParameters and return the Node."""
    def Log(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Log and return the Output."""
    def Log1p(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Log1p and return the Output."""
    def LogMatrixDeterminant(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type LogMatrixDeterminant and return a tuple of Outputs."""
    def LogSoftmax(self, logits: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type LogSoftmax and return the Output."""
    def LogUniformCandidateSampler(self, true_classes: TensorLike, /, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type LogUniformCandidateSampler and return a tuple of Outputs."""
    def LogicalAnd(self, x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type LogicalAnd and return the Output."""
    def LogicalNot(self, x: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type LogicalNot and return the Output."""
    def LogicalOr(self, x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type LogicalOr and return the Output."""
    def LookupTableExport(self, table_handle: OutputLike, /, *, Tkeys: DTypeLike, Tvalues: DTypeLike, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type LookupTableExport and return a tuple of Outputs."""
    def LookupTableExportV2(self, table_handle: OutputLike, /, *, Tkeys: DTypeLike, Tvalues: DTypeLike, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type LookupTableExportV2 and return a tuple of Outputs."""
    def LookupTableFind(self, table_handle: OutputLike, keys: TensorLike, default_value: TensorLike, /, *, Tin: DTypeLike | None = None, Tout: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type LookupTableFind and return the Output."""
    def LookupTableFindV2(self, table_handle: OutputLike, keys: TensorLike, default_value: TensorLike, /, *, Tin: DTypeLike | None = None, Tout: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type LookupTableFindV2 and return the Output."""
    def LookupTableImport(self, table_handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, Tin: DTypeLike | None = None, Tout: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type LookupTableImport and return the Node."""
    def LookupTableImportV2(self, table_handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, Tin: DTypeLike | None = None, Tout: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type LookupTableImportV2 and return the Node."""
    def LookupTableInsert(self, table_handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, Tin: DTypeLike | None = None, Tout: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type LookupTableInsert and return the Node."""
    def LookupTableInsertV2(self, table_handle: OutputLike, keys: TensorLike, values: TensorLike, /, *, Tin: DTypeLike | None = None, Tout: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type LookupTableInsertV2 and return the Node."""
    def LookupTableRemoveV2(self, table_handle: OutputLike, keys: TensorLike, /, *, Tin: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type LookupTableRemoveV2 and return the Node."""
    def LookupTableSize(self, table_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type LookupTableSize and return the Output."""
    def LookupTableSizeV2(self, table_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type LookupTableSizeV2 and return the Output."""
    def LoopCond(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type LoopCond and return the Output."""
    def LowerBound(self, sorted_inputs: TensorLike, values: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type LowerBound and return the Output."""
    def Lu(self, input: TensorLike, /, *, T: DTypeLike | None = None, output_idx_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type Lu and return a tuple of Outputs."""
    def MakeIterator(self, dataset: OutputLike, iterator: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type MakeIterator and return the Node."""
    def MakeUnique(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type MakeUnique and return the Output."""
    def MakeWeakResourceHandle(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type MakeWeakResourceHandle and return the Output."""
    def MapAndBatchDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], batch_size: TensorLike, num_parallel_calls: TensorLike, drop_remainder: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, preserve_cardinality: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type MapAndBatchDataset and return the Output."""
    def MapClear(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type MapClear and return the Node."""
    def MapDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, use_inter_op_parallelism: bool = True, preserve_cardinality: bool = False, force_synchronous: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type MapDataset and return the Output."""
    def MapDefun(self, arguments: Sequence[TensorLike], captured_inputs: Sequence[TensorLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], f: FuncRef | str, Targuments: Sequence[DTypeLike] | None = None, Tcaptured: Sequence[DTypeLike] = ..., max_intra_op_parallelism: int = 1, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type MapDefun and return a tuple of Outputs."""
    def MapIncompleteSize(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type MapIncompleteSize and return the Output."""
    def MapPeek(self, key: TensorLike, indices: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type MapPeek and return a tuple of Outputs."""
    def MapSize(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type MapSize and return the Output."""
    def MapStage(self, key: TensorLike, indices: TensorLike, values: Sequence[TensorLike], /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, fake_dtypes: Sequence[DTypeLike] | None = None, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type MapStage and return the Node."""
    def MapUnstage(self, key: TensorLike, indices: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type MapUnstage and return a tuple of Outputs."""
    def MapUnstageNoKey(self, indices: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type MapUnstageNoKey and return a tuple of Outputs."""
    def MatMul(self, a: TensorLike, b: TensorLike, /, *, transpose_a: bool = False, transpose_b: bool = False, T: DTypeLike | None = None, grad_a: bool = False, grad_b: bool = False, name: str | None = None) -> Output:
        """Add a node of type MatMul and return the Output."""
    def MatchingFiles(self, pattern: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type MatchingFiles and return the Output."""
    def MatchingFilesDataset(self, patterns: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type MatchingFilesDataset and return the Output."""
    def MatrixBandPart(self, input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, /, *, T: DTypeLike | None = None, Tindex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type MatrixBandPart and return the Output."""
    def MatrixDeterminant(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixDeterminant and return the Output."""
    def MatrixDiag(self, diagonal: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixDiag and return the Output."""
    def MatrixDiagPart(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixDiagPart and return the Output."""
    def MatrixDiagPartV2(self, input: TensorLike, k: TensorLike, padding_value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixDiagPartV2 and return the Output."""
    def MatrixDiagPartV3(self, input: TensorLike, k: TensorLike, padding_value: TensorLike, /, *, T: DTypeLike | None = None, align: Literal['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'] | bytes = 'RIGHT_LEFT', name: str | None = None) -> Output:
        """Add a node of type MatrixDiagPartV3 and return the Output."""
    def MatrixDiagV2(self, diagonal: TensorLike, k: TensorLike, num_rows: TensorLike, num_cols: TensorLike, padding_value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixDiagV2 and return the Output."""
    def MatrixDiagV3(self, diagonal: TensorLike, k: TensorLike, num_rows: TensorLike, num_cols: TensorLike, padding_value: TensorLike, /, *, T: DTypeLike | None = None, align: Literal['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'] | bytes = 'RIGHT_LEFT', name: str | None = None) -> Output:
        """Add a node of type MatrixDiagV3 and return the Output."""
    def MatrixExponential(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixExponential and return the Output."""
    def MatrixInverse(self, input: TensorLike, /, *, adjoint: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixInverse and return the Output."""
    def MatrixLogarithm(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixLogarithm and return the Output."""
    def MatrixSetDiag(self, input: TensorLike, diagonal: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixSetDiag and return the Output."""
    def MatrixSetDiagV2(self, input: TensorLike, diagonal: TensorLike, k: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixSetDiagV2 and return the Output."""
    def MatrixSetDiagV3(self, input: TensorLike, diagonal: TensorLike, k: TensorLike, /, *, T: DTypeLike | None = None, align: Literal['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'] | bytes = 'RIGHT_LEFT', name: str | None = None) -> Output:
        """Add a node of type MatrixSetDiagV3 and return the Output."""
    def MatrixSolve(self, matrix: TensorLike, rhs: TensorLike, /, *, adjoint: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixSolve and return the Output."""
    def MatrixSolveLs(self, matrix: TensorLike, rhs: TensorLike, l2_regularizer: TensorLike, /, *, T: DTypeLike | None = None, fast: bool = True, name: str | None = None) -> Output:
        """Add a node of type MatrixSolveLs and return the Output."""
    def MatrixSquareRoot(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixSquareRoot and return the Output."""
    def MatrixTriangularSolve(self, matrix: TensorLike, rhs: TensorLike, /, *, lower: bool = True, adjoint: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MatrixTriangularSolve and return the Output."""
    def Max(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Max and return the Output."""
    def MaxIntraOpParallelismDataset(self, input_dataset: OutputLike, max_intra_op_parallelism: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type MaxIntraOpParallelismDataset and return the Output."""
    def MaxPool(self, input: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, T: DTypeLike = ..., explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] | bytes = 'NHWC', name: str | None = None) -> Output:
        """Add a node of type MaxPool and return the Output."""
    def MaxPool3D(self, input: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MaxPool3D and return the Output."""
    def MaxPool3DGrad(self, orig_input: TensorLike, orig_output: TensorLike, grad: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', T: DTypeLike = ..., TInput: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type MaxPool3DGrad and return the Output."""
    def MaxPool3DGradGrad(self, orig_input: TensorLike, orig_output: TensorLike, grad: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NDHWC', 'NCDHW'] | bytes = 'NDHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MaxPool3DGradGrad and return the Output."""
    def MaxPoolGrad(self, orig_input: TensorLike, orig_output: TensorLike, grad: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID', 'EXPLICIT'] | bytes, explicit_paddings: Sequence[int] = ..., data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type MaxPoolGrad and return the Output."""
    def MaxPoolGradGrad(self, orig_input: TensorLike, orig_output: TensorLike, grad: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MaxPoolGradGrad and return the Output."""
    def MaxPoolGradGradV2(self, orig_input: TensorLike, orig_output: TensorLike, grad: TensorLike, ksize: TensorLike, strides: TensorLike, /, *, padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MaxPoolGradGradV2 and return the Output."""
    def MaxPoolGradGradWithArgmax(self, input: TensorLike, grad: TensorLike, argmax: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, include_batch_in_index: bool = False, Targmax: DTypeLike | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MaxPoolGradGradWithArgmax and return the Output."""
    def MaxPoolGradV2(self, orig_input: TensorLike, orig_output: TensorLike, grad: TensorLike, ksize: TensorLike, strides: TensorLike, /, *, padding: Literal['SAME', 'VALID'] | bytes, data_format: Literal['NHWC', 'NCHW'] | bytes = 'NHWC', T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type MaxPoolGradV2 and return the Output."""
    def MaxPoolGradWithArgmax(self, input: TensorLike, grad: TensorLike, argmax: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, include_batch_in_index: bool = False, Targmax: DTypeLike | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MaxPoolGradWithArgmax and return the Output."""
    def MaxPoolV2(self, input: TensorLike, ksize: TensorLike, strides: TensorLike, /, *, padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike = ..., data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] | bytes = 'NHWC', name: str | None = None) -> Output:
        """Add a node of type MaxPoolV2 and return the Output."""
    def MaxPoolWithArgmax(self, input: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Targmax: DTypeLike = ..., include_batch_in_index: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type MaxPoolWithArgmax and return a tuple of Outputs."""
    def Maximum(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Maximum and return the Output."""
    def Mean(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Mean and return the Output."""
    def Merge(self, inputs: Sequence[TensorLike], /, *, T: DTypeLike | None = None, N: int | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type Merge and return a tuple of Outputs."""
    def MergeDedupData(self, integer_tensor: TensorLike, float_tensor: TensorLike, /, *, tuple_mask: str | bytes, integer_type: DTypeLike | None = None, float_type: DTypeLike | None = None, config: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type MergeDedupData and return the Output."""
    def MergeSummary(self, inputs: Sequence[TensorLike], /, *, N: int | None = None, name: str | None = None) -> Output:
        """Add a node of type MergeSummary and return the Output."""
    def MergeV2Checkpoints(self, checkpoint_prefixes: TensorLike, destination_prefix: TensorLike, /, *, delete_old_dirs: bool = True, allow_missing_files: bool = False, name: str | None = None) -> Node:
        """Add a node of type MergeV2Checkpoints and return the Node."""
    def Mfcc(self, spectrogram: TensorLike, sample_rate: TensorLike, /, *, upper_frequency_limit: float = 4000.0, lower_frequency_limit: float = 20.0, filterbank_channel_count: int = 40, dct_coefficient_count: int = 13, name: str | None = None) -> Output:
        """Add a node of type Mfcc and return the Output."""
    def Min(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Min and return the Output."""
    def Minimum(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Minimum and return the Output."""
    def MirrorPad(self, input: TensorLike, paddings: TensorLike, /, *, mode: Literal['REFLECT', 'SYMMETRIC'] | bytes, T: DTypeLike | None = None, Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type MirrorPad and return the Output."""
    def MirrorPadGrad(self, input: TensorLike, paddings: TensorLike, /, *, mode: Literal['REFLECT', 'SYMMETRIC'] | bytes, T: DTypeLike | None = None, Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type MirrorPadGrad and return the Output."""
    def MixedStruct(self, *, n_a: int, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type MixedStruct and return a tuple of Outputs."""
    def MlirPassthroughOp(self, inputs: Sequence[TensorLike], /, *, mlir_module: str | bytes, Toutputs: Sequence[DTypeLike], Tinputs: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type MlirPassthroughOp and return a tuple of Outputs."""
    def Mod(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Mod and return the Output."""
    def ModelDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], algorithm: int = 0, cpu_budget: int = 0, ram_budget: int = 0, name: str | None = None) -> Output:
        """Add a node of type ModelDataset and return the Output."""
    def Mul(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Mul and return the Output."""
    def MulNoNan(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type MulNoNan and return the Output."""
    def MultiDeviceIterator(self, *, devices: Sequence[str | bytes], shared_name: str | bytes, container: str | bytes, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type MultiDeviceIterator and return the Output."""
    def MultiDeviceIteratorFromStringHandle(self, string_handle: TensorLike, /, *, output_types: Sequence[DTypeLike] = ..., output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> Output:
        """Add a node of type MultiDeviceIteratorFromStringHandle and return the Output."""
    def MultiDeviceIteratorGetNextFromShard(self, multi_device_iterator: OutputLike, shard_num: TensorLike, incarnation_id: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type MultiDeviceIteratorGetNextFromShard and return a tuple of Outputs."""
    def MultiDeviceIteratorInit(self, dataset: OutputLike, multi_device_iterator: OutputLike, max_buffer_size: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type MultiDeviceIteratorInit and return the Output."""
    def MultiDeviceIteratorToStringHandle(self, multi_device_iterator: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type MultiDeviceIteratorToStringHandle and return the Output."""
    def Multinomial(self, logits: TensorLike, num_samples: TensorLike, /, *, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, output_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Multinomial and return the Output."""
    def MutableDenseHashTable(self, empty_key: TensorLike, /, *, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, key_dtype: DTypeLike | None = None, value_shape: ShapeLike = ..., initial_num_buckets: int = 131072, max_load_factor: float = 0.800000011920929, name: str | None = None) -> Output:
        """Add a node of type MutableDenseHashTable and return the Output."""
    def MutableDenseHashTableV2(self, empty_key: TensorLike, deleted_key: TensorLike, /, *, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, key_dtype: DTypeLike | None = None, value_shape: ShapeLike = ..., initial_num_buckets: int = 131072, max_load_factor: float = 0.800000011920929, name: str | None = None) -> Output:
        """Add a node of type MutableDenseHashTableV2 and return the Output."""
    def MutableHashTable(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, name: str | None = None) -> Output:
        """Add a node of type MutableHashTable and return the Output."""
    def MutableHashTableOfTensors(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, value_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Add a node of type MutableHashTableOfTensors and return the Output."""
    def MutableHashTableOfTensorsV2(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, value_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Add a node of type MutableHashTableOfTensorsV2 and return the Output."""
    def MutableHashTableV2(self, *, key_dtype: DTypeLike, value_dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', use_node_name_sharing: bool = False, name: str | None = None) -> Output:
        """Add a node of type MutableHashTableV2 and return the Output."""
    def MutexLock(self, mutex: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type MutexLock and return the Output."""
    def MutexV2(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type MutexV2 and return the Output."""
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
        """Add a node of type NcclAllReduce and return the Output."""
    def NcclBroadcast(self, input: TensorLike, /, *, shape: ShapeLike, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type NcclBroadcast and return the Output."""
    def NcclReduce(self, input: Sequence[TensorLike], /, *, reduction: Literal['min', 'max', 'prod', 'sum'] | bytes, T: DTypeLike | None = None, num_devices: int | None = None, name: str | None = None) -> Output:
        """Add a node of type NcclReduce and return the Output."""
    def Ndtri(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Ndtri and return the Output."""
    def NearestNeighbors(self, points: TensorLike, centers: TensorLike, k: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type NearestNeighbors and return a tuple of Outputs."""
    def Neg(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Neg and return the Output."""
    def NegTrain(self, w_in: OutputLike, w_out: OutputLike, examples: TensorLike, labels: TensorLike, lr: TensorLike, /, *, vocab_count: Sequence[int], num_negative_samples: int, name: str | None = None) -> Node:
        """Add a node of type NegTrain and return the Node."""
    def NextAfter(self, x1: TensorLike, x2: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type NextAfter and return the Output."""
    def NextIteration(self, data: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type NextIteration and return the Output."""
    def NoOp(self, *, name: str | None = None) -> Node:
        """Add a node of type NoOp and return the Node."""
    def NonDeterministicInts(self, shape: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type NonDeterministicInts and return the Output."""
    def NonMaxSuppression(self, boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, /, *, iou_threshold: float = 0.5, name: str | None = None) -> Output:
        """Add a node of type NonMaxSuppression and return the Output."""
    def NonMaxSuppressionV2(self, boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike, /, *, T: DTypeLike = ..., T_threshold: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type NonMaxSuppressionV2 and return the Output."""
    def NonMaxSuppressionV3(self, boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike, score_threshold: TensorLike, /, *, T: DTypeLike = ..., T_threshold: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type NonMaxSuppressionV3 and return the Output."""
    def NonMaxSuppressionV4(self, boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike, score_threshold: TensorLike, /, *, T: DTypeLike = ..., T_threshold: DTypeLike = ..., pad_to_max_output_size: bool = False, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type NonMaxSuppressionV4 and return a tuple of Outputs."""
    def NonMaxSuppressionV5(self, boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike, score_threshold: TensorLike, soft_nms_sigma: TensorLike, /, *, T: DTypeLike = ..., pad_to_max_output_size: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type NonMaxSuppressionV5 and return a tuple of Outputs."""
    def NonMaxSuppressionWithOverlaps(self, overlaps: TensorLike, scores: TensorLike, max_output_size: TensorLike, overlap_threshold: TensorLike, score_threshold: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type NonMaxSuppressionWithOverlaps and return the Output."""
    def NonSerializableDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type NonSerializableDataset and return the Output."""
    def NotEqual(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, incompatible_shape_error: bool = True, name: str | None = None) -> Output:
        """Add a node of type NotEqual and return the Output."""
    def NthElement(self, input: TensorLike, n: TensorLike, /, *, reverse: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type NthElement and return the Output."""
    def Old(self, *, name: str | None = None) -> Node:
        """Add a node of type Old and return the Node."""
    def OneHot(self, indices: TensorLike, depth: TensorLike, on_value: TensorLike, off_value: TensorLike, /, *, axis: int = -1, T: DTypeLike | None = None, TI: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type OneHot and return the Output."""
    def OneShotIterator(self, *, dataset_factory: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type OneShotIterator and return the Output."""
    def OnesLike(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type OnesLike and return the Output."""
    def OpWithDefaultAttr(self, *, default_float: float = 123.0, name: str | None = None) -> Output:
        """Add a node of type OpWithDefaultAttr and return the Output."""
    def OpWithFutureDefaultAttr(self, *, name: str | None = None) -> Node:
        """Add a node of type OpWithFutureDefaultAttr and return the Node."""
    def OptimizeDataset(self, input_dataset: OutputLike, optimizations: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], optimization_configs: Sequence[str | bytes] = ..., name: str | None = None) -> Output:
        """Add a node of type OptimizeDataset and return the Output."""
    def OptimizeDatasetV2(self, input_dataset: OutputLike, optimizations_enabled: TensorLike, optimizations_disabled: TensorLike, optimizations_default: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], optimization_configs: Sequence[str | bytes] = ..., name: str | None = None) -> Output:
        """Add a node of type OptimizeDatasetV2 and return the Output."""
    def OptionalFromValue(self, components: Sequence[TensorLike], /, *, Toutput_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type OptionalFromValue and return the Output."""
    def OptionalGetValue(self, optional: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type OptionalGetValue and return a tuple of Outputs."""
    def OptionalHasValue(self, optional: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type OptionalHasValue and return the Output."""
    def OptionalNone(self, *, name: str | None = None) -> Output:
        """Add a node of type OptionalNone and return the Output."""
    def OptionsDataset(self, input_dataset: OutputLike, /, *, serialized_options: str | bytes, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type OptionsDataset and return the Output."""
    def OrderedMapClear(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type OrderedMapClear and return the Node."""
    def OrderedMapIncompleteSize(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type OrderedMapIncompleteSize and return the Output."""
    def OrderedMapPeek(self, key: TensorLike, indices: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type OrderedMapPeek and return a tuple of Outputs."""
    def OrderedMapSize(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type OrderedMapSize and return the Output."""
    def OrderedMapStage(self, key: TensorLike, indices: TensorLike, values: Sequence[TensorLike], /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, fake_dtypes: Sequence[DTypeLike] | None = None, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type OrderedMapStage and return the Node."""
    def OrderedMapUnstage(self, key: TensorLike, indices: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type OrderedMapUnstage and return a tuple of Outputs."""
    def OrderedMapUnstageNoKey(self, indices: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type OrderedMapUnstageNoKey and return a tuple of Outputs."""
    def OutT(self, *, T: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type OutT and return the Output."""
    def OutTypeList(self, *, T: Sequence[DTypeLike], name: str | None = None) -> OutputsOrNode:
        """Add a node of type OutTypeList and return a tuple of Outputs."""
    def OutTypeListRestrict(self, *, t: Sequence[DTypeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type OutTypeListRestrict and return a tuple of Outputs."""
    def OutfeedDequeue(self, *, dtype: DTypeLike, shape: ShapeLike, device_ordinal: int = -1, name: str | None = None) -> Output:
        """Add a node of type OutfeedDequeue and return the Output."""
    def OutfeedDequeueTuple(self, *, dtypes: Sequence[DTypeLike], shapes: Sequence[ShapeLike], device_ordinal: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type OutfeedDequeueTuple and return a tuple of Outputs."""
    def OutfeedDequeueTupleV2(self, device_ordinal: TensorLike, /, *, dtypes: Sequence[DTypeLike], shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type OutfeedDequeueTupleV2 and return a tuple of Outputs."""
    def OutfeedDequeueV2(self, device_ordinal: TensorLike, /, *, dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Output:
        """Add a node of type OutfeedDequeueV2 and return the Output."""
    def OutfeedEnqueue(self, input: TensorLike, /, *, dtype: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type OutfeedEnqueue and return the Node."""
    def OutfeedEnqueueTuple(self, inputs: Sequence[TensorLike], /, *, dtypes: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Add a node of type OutfeedEnqueueTuple and return the Node."""
    def Pack(self, values: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, axis: int = 0, name: str | None = None) -> Output:
        """Add a node of type Pack and return the Output."""
    def Pad(self, input: TensorLike, paddings: TensorLike, /, *, T: DTypeLike | None = None, Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Pad and return the Output."""
    def PadV2(self, input: TensorLike, paddings: TensorLike, constant_values: TensorLike, /, *, T: DTypeLike | None = None, Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type PadV2 and return the Output."""
    def PaddedBatchDataset(self, input_dataset: OutputLike, batch_size: TensorLike, padded_shapes: Sequence[TensorLike], padding_values: Sequence[TensorLike], /, *, output_shapes: Sequence[ShapeLike], Toutput_types: Sequence[DTypeLike] | None = None, N: int | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type PaddedBatchDataset and return the Output."""
    def PaddedBatchDatasetV2(self, input_dataset: OutputLike, batch_size: TensorLike, padded_shapes: Sequence[TensorLike], padding_values: Sequence[TensorLike], drop_remainder: TensorLike, /, *, output_shapes: Sequence[ShapeLike], parallel_copy: bool = False, Toutput_types: Sequence[DTypeLike] | None = None, N: int | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type PaddedBatchDatasetV2 and return the Output."""
    def PaddingFIFOQueue(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type PaddingFIFOQueue and return the Output."""
    def PaddingFIFOQueueV2(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type PaddingFIFOQueueV2 and return the Output."""
    def ParallelBatchDataset(self, input_dataset: OutputLike, batch_size: TensorLike, num_parallel_calls: TensorLike, drop_remainder: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], parallel_copy: bool = False, deterministic: str | bytes = 'default', metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ParallelBatchDataset and return the Output."""
    def ParallelConcat(self, values: Sequence[TensorLike], /, *, shape: ShapeLike, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ParallelConcat and return the Output."""
    def ParallelDynamicStitch(self, indices: Sequence[TensorLike], data: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ParallelDynamicStitch and return the Output."""
    def ParallelFilterDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], num_parallel_calls: TensorLike, /, *, predicate: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], deterministic: str | bytes = 'default', Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ParallelFilterDataset and return the Output."""
    def ParallelInterleaveDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, sloppy: TensorLike, buffer_output_elements: TensorLike, prefetch_input_elements: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ParallelInterleaveDataset and return the Output."""
    def ParallelInterleaveDatasetV2(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, num_parallel_calls: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, sloppy: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ParallelInterleaveDatasetV2 and return the Output."""
    def ParallelInterleaveDatasetV3(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, num_parallel_calls: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], deterministic: str | bytes = 'default', Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ParallelInterleaveDatasetV3 and return the Output."""
    def ParallelInterleaveDatasetV4(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], cycle_length: TensorLike, block_length: TensorLike, buffer_output_elements: TensorLike, prefetch_input_elements: TensorLike, num_parallel_calls: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], deterministic: str | bytes = 'default', Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ParallelInterleaveDatasetV4 and return the Output."""
    def ParallelMapDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], num_parallel_calls: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, use_inter_op_parallelism: bool = True, sloppy: bool = False, preserve_cardinality: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ParallelMapDataset and return the Output."""
    def ParallelMapDatasetV2(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], num_parallel_calls: TensorLike, /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, use_inter_op_parallelism: bool = True, deterministic: str | bytes = 'default', preserve_cardinality: bool = False, use_unbounded_threadpool: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ParallelMapDatasetV2 and return the Output."""
    def ParameterizedTruncatedNormal(self, shape: TensorLike, means: TensorLike, stdevs: TensorLike, minvals: TensorLike, maxvals: TensorLike, /, *, seed: int = 0, seed2: int = 0, dtype: DTypeLike | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ParameterizedTruncatedNormal and return the Output."""
    def ParseExample(self, serialized: TensorLike, names: TensorLike, sparse_keys: Sequence[TensorLike], dense_keys: Sequence[TensorLike], dense_defaults: Sequence[TensorLike], /, *, sparse_types: Sequence[DTypeLike], dense_shapes: Sequence[ShapeLike], Nsparse: int | None = None, Ndense: int | None = None, Tdense: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type ParseExample and return a tuple of Outputs."""
    def ParseExampleDataset(self, input_dataset: OutputLike, num_parallel_calls: TensorLike, dense_defaults: Sequence[TensorLike], /, *, sparse_keys: Sequence[str | bytes], dense_keys: Sequence[str | bytes], sparse_types: Sequence[DTypeLike], dense_shapes: Sequence[ShapeLike], output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tdense: Sequence[DTypeLike] | None = None, sloppy: bool = False, ragged_keys: Sequence[str | bytes] = ..., ragged_value_types: Sequence[DTypeLike] = ..., ragged_split_types: Sequence[DTypeLike] = ..., name: str | None = None) -> Output:
        """Add a node of type ParseExampleDataset and return the Output."""
    def ParseExampleDatasetV2(self, input_dataset: OutputLike, num_parallel_calls: TensorLike, dense_defaults: Sequence[TensorLike], /, *, sparse_keys: Sequence[str | bytes], dense_keys: Sequence[str | bytes], sparse_types: Sequence[DTypeLike], dense_shapes: Sequence[ShapeLike], output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tdense: Sequence[DTypeLike] | None = None, deterministic: str | bytes = 'default', ragged_keys: Sequence[str | bytes] = ..., ragged_value_types: Sequence[DTypeLike] = ..., ragged_split_types: Sequence[DTypeLike] = ..., name: str | None = None) -> Output:
        """Add a node of type ParseExampleDatasetV2 and return the Output."""
    def ParseExampleV2(self, serialized: TensorLike, names: TensorLike, sparse_keys: TensorLike, dense_keys: TensorLike, ragged_keys: TensorLike, dense_defaults: Sequence[TensorLike], /, *, num_sparse: int, sparse_types: Sequence[DTypeLike], ragged_value_types: Sequence[DTypeLike], ragged_split_types: Sequence[DTypeLike], dense_shapes: Sequence[ShapeLike], Tdense: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type ParseExampleV2 and return a tuple of Outputs."""
    def ParseSequenceExample(self, serialized: TensorLike, debug_name: TensorLike, context_dense_defaults: Sequence[TensorLike], /, *, feature_list_dense_missing_assumed_empty: Sequence[str | bytes], context_sparse_keys: Sequence[str | bytes], context_dense_keys: Sequence[str | bytes], feature_list_sparse_keys: Sequence[str | bytes], feature_list_dense_keys: Sequence[str | bytes], Ncontext_sparse: int = 0, Ncontext_dense: int = 0, Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, context_sparse_types: Sequence[DTypeLike] = ..., Tcontext_dense: Sequence[DTypeLike] = ..., feature_list_dense_types: Sequence[DTypeLike] = ..., context_dense_shapes: Sequence[ShapeLike] = ..., feature_list_sparse_types: Sequence[DTypeLike] = ..., feature_list_dense_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """Add a node of type ParseSequenceExample and return a tuple of Outputs."""
    def ParseSequenceExampleV2(self, serialized: TensorLike, debug_name: TensorLike, context_sparse_keys: TensorLike, context_dense_keys: TensorLike, context_ragged_keys: TensorLike, feature_list_sparse_keys: TensorLike, feature_list_dense_keys: TensorLike, feature_list_ragged_keys: TensorLike, feature_list_dense_missing_assumed_empty: TensorLike, context_dense_defaults: Sequence[TensorLike], /, *, Ncontext_sparse: int = 0, Tcontext_dense: Sequence[DTypeLike] = ..., context_sparse_types: Sequence[DTypeLike] = ..., context_ragged_value_types: Sequence[DTypeLike] = ..., context_ragged_split_types: Sequence[DTypeLike] = ..., context_dense_shapes: Sequence[ShapeLike] = ..., Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, feature_list_dense_types: Sequence[DTypeLike] = ..., feature_list_sparse_types: Sequence[DTypeLike] = ..., feature_list_ragged_value_types: Sequence[DTypeLike] = ..., feature_list_ragged_split_types: Sequence[DTypeLike] = ..., feature_list_dense_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """Add a node of type ParseSequenceExampleV2 and return a tuple of Outputs."""
    def ParseSingleExample(self, serialized: TensorLike, dense_defaults: Sequence[TensorLike], /, *, num_sparse: int, sparse_keys: Sequence[str | bytes], dense_keys: Sequence[str | bytes], sparse_types: Sequence[DTypeLike], dense_shapes: Sequence[ShapeLike], Tdense: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type ParseSingleExample and return a tuple of Outputs."""
    def ParseSingleSequenceExample(self, serialized: TensorLike, feature_list_dense_missing_assumed_empty: TensorLike, context_sparse_keys: Sequence[TensorLike], context_dense_keys: Sequence[TensorLike], feature_list_sparse_keys: Sequence[TensorLike], feature_list_dense_keys: Sequence[TensorLike], context_dense_defaults: Sequence[TensorLike], debug_name: TensorLike, /, *, Ncontext_sparse: int = 0, Ncontext_dense: int = 0, Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, context_sparse_types: Sequence[DTypeLike] = ..., Tcontext_dense: Sequence[DTypeLike] = ..., feature_list_dense_types: Sequence[DTypeLike] = ..., context_dense_shapes: Sequence[ShapeLike] = ..., feature_list_sparse_types: Sequence[DTypeLike] = ..., feature_list_dense_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """Add a node of type ParseSingleSequenceExample and return a tuple of Outputs."""
    def ParseTensor(self, serialized: TensorLike, /, *, out_type: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type ParseTensor and return the Output."""
    def PartitionedCall(self, args: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], f: FuncRef | str, Tin: Sequence[DTypeLike] | None = None, config: str | bytes = '', config_proto: str | bytes = '', executor_type: str | bytes = '', name: str | None = None) -> OutputsOrNode:
        """Add a node of type PartitionedCall and return a tuple of Outputs."""
    def Placeholder(self, *, dtype: DTypeLike, shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Placeholder and return the Output."""
    def PlaceholderV2(self, *, dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Output:
        """Add a node of type PlaceholderV2 and return the Output."""
    def PlaceholderWithDefault(self, input: TensorLike, /, *, shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type PlaceholderWithDefault and return the Output."""
    def Polygamma(self, a: TensorLike, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Polygamma and return the Output."""
    def Polymorphic(self, a: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Polymorphic and return the Output."""
    def PolymorphicDefaultOut(self, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type PolymorphicDefaultOut and return the Output."""
    def PolymorphicOut(self, *, T: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type PolymorphicOut and return the Output."""
    def PopulationCount(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type PopulationCount and return the Output."""
    def Pow(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Pow and return the Output."""
    def PrefetchDataset(self, input_dataset: OutputLike, buffer_size: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], slack_period: int = 0, legacy_autotune: bool = True, buffer_size_min: int = 0, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type PrefetchDataset and return the Output."""
    def Prelinearize(self, input: TensorLike, /, *, dtype: DTypeLike | None = None, shape: ShapeLike = ..., layout: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type Prelinearize and return the Output."""
    def PrelinearizeTuple(self, inputs: Sequence[TensorLike], /, *, shapes: Sequence[ShapeLike], dtypes: Sequence[DTypeLike] | None = None, layouts: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type PrelinearizeTuple and return the Output."""
    def PreventGradient(self, input: TensorLike, /, *, T: DTypeLike | None = None, message: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type PreventGradient and return the Output."""
    def Print(self, input: TensorLike, data: Sequence[TensorLike], /, *, T: DTypeLike | None = None, U: Sequence[DTypeLike] | None = None, message: str | bytes = '', first_n: int = -1, summarize: int = 3, name: str | None = None) -> Output:
        """Add a node of type Print and return the Output."""
    def PrintV2(self, input: TensorLike, /, *, output_stream: str | bytes = 'stderr', end: str | bytes = '\n', name: str | None = None) -> Node:
        """Add a node of type PrintV2 and return the Node."""
    def PriorityQueue(self, *, shapes: Sequence[ShapeLike], component_types: Sequence[DTypeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type PriorityQueue and return the Output."""
    def PriorityQueueV2(self, *, shapes: Sequence[ShapeLike], component_types: Sequence[DTypeLike] = ..., capacity: int = -1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type PriorityQueueV2 and return the Output."""
    def PrivateThreadPoolDataset(self, input_dataset: OutputLike, num_threads: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type PrivateThreadPoolDataset and return the Output."""
    def Prod(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Prod and return the Output."""
    def PyFunc(self, input: Sequence[TensorLike], /, *, token: str | bytes, Tout: Sequence[DTypeLike], Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type PyFunc and return a tuple of Outputs."""
    def PyFuncStateless(self, input: Sequence[TensorLike], /, *, token: str | bytes, Tout: Sequence[DTypeLike], Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type PyFuncStateless and return a tuple of Outputs."""
    def Qr(self, input: TensorLike, /, *, full_matrices: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type Qr and return a tuple of Outputs."""
    def QuantizeAndDequantize(self, input: TensorLike, /, *, signed_input: bool = True, num_bits: int = 8, range_given: bool = False, input_min: float = 0.0, input_max: float = 0.0, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type QuantizeAndDequantize and return the Output."""
    def QuantizeAndDequantizeV2(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, signed_input: bool = True, num_bits: int = 8, range_given: bool = False, T: DTypeLike | None = None, round_mode: Literal['HALF_TO_EVEN', 'HALF_UP'] | bytes = 'HALF_TO_EVEN', narrow_range: bool = False, axis: int = -1, name: str | None = None) -> Output:
        """Add a node of type QuantizeAndDequantizeV2 and return the Output."""
    def QuantizeAndDequantizeV3(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, num_bits: TensorLike, /, *, signed_input: bool = True, range_given: bool = True, T: DTypeLike | None = None, narrow_range: bool = False, axis: int = -1, name: str | None = None) -> Output:
        """Add a node of type QuantizeAndDequantizeV3 and return the Output."""
    def QuantizeAndDequantizeV4(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, signed_input: bool = True, num_bits: int = 8, range_given: bool = False, T: DTypeLike | None = None, round_mode: Literal['HALF_TO_EVEN', 'HALF_UP'] | bytes = 'HALF_TO_EVEN', narrow_range: bool = False, axis: int = -1, name: str | None = None) -> Output:
        """Add a node of type QuantizeAndDequantizeV4 and return the Output."""
    def QuantizeAndDequantizeV4Grad(self, gradients: TensorLike, input: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, T: DTypeLike | None = None, axis: int = -1, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizeAndDequantizeV4Grad and return a tuple of Outputs."""
    def QuantizeDownAndShrinkRange(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, out_type: DTypeLike, Tinput: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizeDownAndShrinkRange and return a tuple of Outputs."""
    def QuantizeV2(self, input: TensorLike, min_range: TensorLike, max_range: TensorLike, /, *, T: DTypeLike, mode: Literal['MIN_COMBINED', 'MIN_FIRST', 'SCALED'] | bytes = 'MIN_COMBINED', round_mode: Literal['HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'] | bytes = 'HALF_AWAY_FROM_ZERO', narrow_range: bool = False, axis: int = -1, ensure_minimum_range: float = 0.009999999776482582, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizeV2 and return a tuple of Outputs."""
    def QuantizedAdd(self, x: TensorLike, y: TensorLike, min_x: TensorLike, max_x: TensorLike, min_y: TensorLike, max_y: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Toutput: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedAdd and return a tuple of Outputs."""
    def QuantizedAvgPool(self, input: TensorLike, min_input: TensorLike, max_input: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedAvgPool and return a tuple of Outputs."""
    def QuantizedBatchNormWithGlobalNormalization(self, t: TensorLike, t_min: TensorLike, t_max: TensorLike, m: TensorLike, m_min: TensorLike, m_max: TensorLike, v: TensorLike, v_min: TensorLike, v_max: TensorLike, beta: TensorLike, beta_min: TensorLike, beta_max: TensorLike, gamma: TensorLike, gamma_min: TensorLike, gamma_max: TensorLike, /, *, out_type: DTypeLike, variance_epsilon: float, scale_after_normalization: bool, Tinput: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedBatchNormWithGlobalNormalization and return a tuple of Outputs."""
    def QuantizedBiasAdd(self, input: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_bias: TensorLike, max_bias: TensorLike, /, *, out_type: DTypeLike, T1: DTypeLike | None = None, T2: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedBiasAdd and return a tuple of Outputs."""
    def QuantizedConcat(self, concat_dim: TensorLike, values: Sequence[TensorLike], input_mins: Sequence[TensorLike], input_maxes: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConcat and return a tuple of Outputs."""
    def QuantizedConcatV2(self, values: Sequence[TensorLike], axis: TensorLike, input_mins: Sequence[TensorLike], input_maxes: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConcatV2 and return a tuple of Outputs."""
    def QuantizedConv2D(self, input: TensorLike, filter: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2D and return a tuple of Outputs."""
    def QuantizedConv2DAndRelu(self, input: TensorLike, filter: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DAndRelu and return a tuple of Outputs."""
    def QuantizedConv2DAndReluAndRequantize(self, input: TensorLike, filter: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DAndReluAndRequantize and return a tuple of Outputs."""
    def QuantizedConv2DAndRequantize(self, input: TensorLike, filter: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DAndRequantize and return a tuple of Outputs."""
    def QuantizedConv2DPerChannel(self, input: TensorLike, filter: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedConv2DPerChannel and return a tuple of Outputs."""
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
        """Add a node of type QuantizedDepthwiseConv2D and return a tuple of Outputs."""
    def QuantizedDepthwiseConv2DWithBias(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedDepthwiseConv2DWithBias and return a tuple of Outputs."""
    def QuantizedDepthwiseConv2DWithBiasAndRelu(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedDepthwiseConv2DWithBiasAndRelu and return a tuple of Outputs."""
    def QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize(self, input: TensorLike, filter: TensorLike, bias: TensorLike, min_input: TensorLike, max_input: TensorLike, min_filter: TensorLike, max_filter: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, Tinput: DTypeLike | None = None, Tfilter: DTypeLike | None = None, Tbias: DTypeLike | None = None, out_type: DTypeLike = ..., dilations: Sequence[int] = ..., padding_list: Sequence[int] = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize and return a tuple of Outputs."""
    def QuantizedInstanceNorm(self, x: TensorLike, x_min: TensorLike, x_max: TensorLike, /, *, T: DTypeLike | None = None, output_range_given: bool = False, given_y_min: float = 0.0, given_y_max: float = 0.0, variance_epsilon: float = 9.999999747378752e-06, min_separation: float = 0.0010000000474974513, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedInstanceNorm and return a tuple of Outputs."""
    def QuantizedMatMul(self, a: TensorLike, b: TensorLike, min_a: TensorLike, max_a: TensorLike, min_b: TensorLike, max_b: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Toutput: DTypeLike = ..., transpose_a: bool = False, transpose_b: bool = False, Tactivation: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedMatMul and return a tuple of Outputs."""
    def QuantizedMatMulWithBias(self, a: TensorLike, b: TensorLike, bias: TensorLike, min_a: TensorLike, max_a: TensorLike, min_b: TensorLike, max_b: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Tbias: DTypeLike | None = None, Toutput: DTypeLike = ..., transpose_a: bool = False, transpose_b: bool = False, input_quant_mode: Literal['MIN_FIRST', 'SCALED'] | bytes = 'MIN_FIRST', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedMatMulWithBias and return a tuple of Outputs."""
    def QuantizedMatMulWithBiasAndDequantize(self, a: TensorLike, b: TensorLike, bias: TensorLike, min_a: TensorLike, max_a: TensorLike, min_b: TensorLike, max_b: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, Toutput: DTypeLike, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Tbias: DTypeLike | None = None, transpose_a: bool = False, transpose_b: bool = False, input_quant_mode: Literal['MIN_FIRST', 'SCALED'] | bytes = 'MIN_FIRST', name: str | None = None) -> Output:
        """Add a node of type QuantizedMatMulWithBiasAndDequantize and return the Output."""
    def QuantizedMatMulWithBiasAndRelu(self, a: TensorLike, b: TensorLike, bias: TensorLike, min_a: TensorLike, max_a: TensorLike, min_b: TensorLike, max_b: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Toutput: DTypeLike = ..., transpose_a: bool = False, transpose_b: bool = False, input_quant_mode: Literal['MIN_FIRST', 'SCALED'] | bytes = 'MIN_FIRST', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedMatMulWithBiasAndRelu and return a tuple of Outputs."""
    def QuantizedMatMulWithBiasAndReluAndRequantize(self, a: TensorLike, b: TensorLike, bias: TensorLike, min_a: TensorLike, max_a: TensorLike, min_b: TensorLike, max_b: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Tbias: DTypeLike | None = None, Toutput: DTypeLike = ..., transpose_a: bool = False, transpose_b: bool = False, input_quant_mode: Literal['MIN_FIRST', 'SCALED'] | bytes = 'MIN_FIRST', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedMatMulWithBiasAndReluAndRequantize and return a tuple of Outputs."""
    def QuantizedMatMulWithBiasAndRequantize(self, a: TensorLike, b: TensorLike, bias: TensorLike, min_a: TensorLike, max_a: TensorLike, min_b: TensorLike, max_b: TensorLike, min_freezed_output: TensorLike, max_freezed_output: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Tbias: DTypeLike | None = None, Toutput: DTypeLike = ..., transpose_a: bool = False, transpose_b: bool = False, input_quant_mode: Literal['MIN_FIRST', 'SCALED'] | bytes = 'MIN_FIRST', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedMatMulWithBiasAndRequantize and return a tuple of Outputs."""
    def QuantizedMaxPool(self, input: TensorLike, min_input: TensorLike, max_input: TensorLike, /, *, ksize: Sequence[int], strides: Sequence[int], padding: Literal['SAME', 'VALID'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedMaxPool and return a tuple of Outputs."""
    def QuantizedMul(self, x: TensorLike, y: TensorLike, min_x: TensorLike, max_x: TensorLike, min_y: TensorLike, max_y: TensorLike, /, *, T1: DTypeLike | None = None, T2: DTypeLike | None = None, Toutput: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedMul and return a tuple of Outputs."""
    def QuantizedRelu(self, features: TensorLike, min_features: TensorLike, max_features: TensorLike, /, *, Tinput: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedRelu and return a tuple of Outputs."""
    def QuantizedRelu6(self, features: TensorLike, min_features: TensorLike, max_features: TensorLike, /, *, Tinput: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedRelu6 and return a tuple of Outputs."""
    def QuantizedReluX(self, features: TensorLike, max_value: TensorLike, min_features: TensorLike, max_features: TensorLike, /, *, Tinput: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedReluX and return a tuple of Outputs."""
    def QuantizedReshape(self, tensor: TensorLike, shape: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, T: DTypeLike | None = None, Tshape: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedReshape and return a tuple of Outputs."""
    def QuantizedResizeBilinear(self, images: TensorLike, size: TensorLike, min: TensorLike, max: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type QuantizedResizeBilinear and return a tuple of Outputs."""
    def QueueClose(self, handle: OutputLike, /, *, cancel_pending_enqueues: bool = False, name: str | None = None) -> Node:
        """Add a node of type QueueClose and return the Node."""
    def QueueCloseV2(self, handle: OutputLike, /, *, cancel_pending_enqueues: bool = False, name: str | None = None) -> Node:
        """Add a node of type QueueCloseV2 and return the Node."""
    def QueueDequeue(self, handle: OutputLike, /, *, component_types: Sequence[DTypeLike], timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type QueueDequeue and return a tuple of Outputs."""
    def QueueDequeueMany(self, handle: OutputLike, n: TensorLike, /, *, component_types: Sequence[DTypeLike], timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type QueueDequeueMany and return a tuple of Outputs."""
    def QueueDequeueManyV2(self, handle: OutputLike, n: TensorLike, /, *, component_types: Sequence[DTypeLike], timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type QueueDequeueManyV2 and return a tuple of Outputs."""
    def QueueDequeueUpTo(self, handle: OutputLike, n: TensorLike, /, *, component_types: Sequence[DTypeLike], timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type QueueDequeueUpTo and return a tuple of Outputs."""
    def QueueDequeueUpToV2(self, handle: OutputLike, n: TensorLike, /, *, component_types: Sequence[DTypeLike], timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type QueueDequeueUpToV2 and return a tuple of Outputs."""
    def QueueDequeueV2(self, handle: OutputLike, /, *, component_types: Sequence[DTypeLike], timeout_ms: int = -1, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type QueueDequeueV2 and return a tuple of Outputs."""
    def QueueEnqueue(self, handle: OutputLike, components: Sequence[TensorLike], /, *, Tcomponents: Sequence[DTypeLike] | None = None, timeout_ms: int = -1, name: str | None = None) -> Node:
        """Add a node of type QueueEnqueue and return the Node."""
    def QueueEnqueueMany(self, handle: OutputLike, components: Sequence[TensorLike], /, *, Tcomponents: Sequence[DTypeLike] | None = None, timeout_ms: int = -1, name: str | None = None) -> Node:
        """Add a node of type QueueEnqueueMany and return the Node."""
    def QueueEnqueueManyV2(self, handle: OutputLike, components: Sequence[TensorLike], /, *, Tcomponents: Sequence[DTypeLike] | None = None, timeout_ms: int = -1, name: str | None = None) -> Node:
        """Add a node of type QueueEnqueueManyV2 and return the Node."""
    def QueueEnqueueV2(self, handle: OutputLike, components: Sequence[TensorLike], /, *, Tcomponents: Sequence[DTypeLike] | None = None, timeout_ms: int = -1, name: str | None = None) -> Node:
        """Add a node of type QueueEnqueueV2 and return the Node."""
    def QueueIsClosed(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type QueueIsClosed and return the Output."""
    def QueueIsClosedV2(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type QueueIsClosedV2 and return the Output."""
    def QueueSize(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type QueueSize and return the Output."""
    def QueueSizeV2(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type QueueSizeV2 and return the Output."""
    def RFFT(self, input: TensorLike, fft_length: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RFFT and return the Output."""
    def RFFT2D(self, input: TensorLike, fft_length: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RFFT2D and return the Output."""
    def RFFT3D(self, input: TensorLike, fft_length: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RFFT3D and return the Output."""
    def RFFTND(self, input: TensorLike, fft_length: TensorLike, axes: TensorLike, /, *, Treal: DTypeLike = ..., Tcomplex: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RFFTND and return the Output."""
    def RGBToHSV(self, images: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RGBToHSV and return the Output."""
    def RaggedBincount(self, splits: TensorLike, values: TensorLike, size: TensorLike, weights: TensorLike, /, *, Tidx: DTypeLike | None = None, T: DTypeLike | None = None, binary_output: bool = False, name: str | None = None) -> Output:
        """Add a node of type RaggedBincount and return the Output."""
    def RaggedCountSparseOutput(self, splits: TensorLike, values: TensorLike, weights: TensorLike, /, *, binary_output: bool, T: DTypeLike | None = None, minlength: int = -1, maxlength: int = -1, output_type: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type RaggedCountSparseOutput and return a tuple of Outputs."""
    def RaggedCross(self, ragged_values: Sequence[TensorLike], ragged_row_splits: Sequence[TensorLike], sparse_indices: Sequence[TensorLike], sparse_values: Sequence[TensorLike], sparse_shape: Sequence[TensorLike], dense_inputs: Sequence[TensorLike], /, *, input_order: str | bytes, hashed_output: bool, num_buckets: int, hash_key: int, out_values_type: DTypeLike, out_row_splits_type: DTypeLike, Nsparse: int | None = None, ragged_values_types: Sequence[DTypeLike] | None = None, ragged_splits_types: Sequence[DTypeLike] | None = None, sparse_values_types: Sequence[DTypeLike] | None = None, dense_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RaggedCross and return a tuple of Outputs."""
    def RaggedFillEmptyRows(self, value_rowids: TensorLike, values: TensorLike, nrows: TensorLike, default_value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type RaggedFillEmptyRows and return a tuple of Outputs."""
    def RaggedFillEmptyRowsGrad(self, reverse_index_map: TensorLike, grad_values: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RaggedFillEmptyRowsGrad and return a tuple of Outputs."""
    def RaggedGather(self, params_nested_splits: Sequence[TensorLike], params_dense_values: TensorLike, indices: TensorLike, /, *, OUTPUT_RAGGED_RANK: int, Tvalues: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tsplits: DTypeLike = ..., PARAMS_RAGGED_RANK: int | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type RaggedGather and return a tuple of Outputs."""
    def RaggedRange(self, starts: TensorLike, limits: TensorLike, deltas: TensorLike, /, *, T: DTypeLike = ..., Tsplits: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RaggedRange and return a tuple of Outputs."""
    def RaggedTensorFromVariant(self, encoded_ragged: OutputLike, /, *, input_ragged_rank: int, output_ragged_rank: int, Tvalues: DTypeLike, Tsplits: DTypeLike = ..., name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type RaggedTensorFromVariant and return a tuple of Outputs."""
    def RaggedTensorToSparse(self, rt_nested_splits: Sequence[TensorLike], rt_dense_values: TensorLike, /, *, RAGGED_RANK: int | None = None, T: DTypeLike | None = None, Tsplits: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type RaggedTensorToSparse and return a tuple of Outputs."""
    def RaggedTensorToTensor(self, shape: TensorLike, values: TensorLike, default_value: TensorLike, row_partition_tensors: Sequence[TensorLike], /, *, row_partition_types: Sequence[str | bytes], T: DTypeLike | None = None, Tindex: DTypeLike | None = None, Tshape: DTypeLike | None = None, num_row_partition_tensors: int | None = None, name: str | None = None) -> Output:
        """Add a node of type RaggedTensorToTensor and return the Output."""
    def RaggedTensorToVariant(self, rt_nested_splits: Sequence[TensorLike], rt_dense_values: TensorLike, /, *, batched_input: bool, RAGGED_RANK: int | None = None, Tvalues: DTypeLike | None = None, Tsplits: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RaggedTensorToVariant and return the Output."""
    def RaggedTensorToVariantGradient(self, encoded_ragged_grad: OutputLike, row_splits: TensorLike, dense_values_shape: TensorLike, /, *, Tvalues: DTypeLike, Tsplits: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RaggedTensorToVariantGradient and return the Output."""
    def RandomCrop(self, image: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, seed: int = 0, seed2: int = 0, name: str | None = None) -> Output:
        """Add a node of type RandomCrop and return the Output."""
    def RandomDataset(self, seed: TensorLike, seed2: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type RandomDataset and return the Output."""
    def RandomDatasetV2(self, seed: TensorLike, seed2: TensorLike, seed_generator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], rerandomize_each_iteration: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type RandomDatasetV2 and return the Output."""
    def RandomGamma(self, shape: TensorLike, alpha: TensorLike, /, *, seed: int = 0, seed2: int = 0, S: DTypeLike | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RandomGamma and return the Output."""
    def RandomGammaGrad(self, alpha: TensorLike, sample: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RandomGammaGrad and return the Output."""
    def RandomIndexShuffle(self, index: TensorLike, seed: TensorLike, max_index: TensorLike, /, *, rounds: int = 4, dtype: DTypeLike | None = None, Tseed: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RandomIndexShuffle and return the Output."""
    def RandomPoisson(self, shape: TensorLike, rate: TensorLike, /, *, seed: int = 0, seed2: int = 0, S: DTypeLike | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RandomPoisson and return the Output."""
    def RandomPoissonV2(self, shape: TensorLike, rate: TensorLike, /, *, seed: int = 0, seed2: int = 0, S: DTypeLike | None = None, R: DTypeLike = ..., dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type RandomPoissonV2 and return the Output."""
    def RandomShuffle(self, value: TensorLike, /, *, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RandomShuffle and return the Output."""
    def RandomShuffleQueue(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, min_after_dequeue: int = 0, seed: int = 0, seed2: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type RandomShuffleQueue and return the Output."""
    def RandomShuffleQueueV2(self, *, component_types: Sequence[DTypeLike], shapes: Sequence[ShapeLike] = ..., capacity: int = -1, min_after_dequeue: int = 0, seed: int = 0, seed2: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type RandomShuffleQueueV2 and return the Output."""
    def RandomStandardNormal(self, shape: TensorLike, /, *, dtype: DTypeLike, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RandomStandardNormal and return the Output."""
    def RandomUniform(self, shape: TensorLike, /, *, dtype: DTypeLike, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RandomUniform and return the Output."""
    def RandomUniformInt(self, shape: TensorLike, minval: TensorLike, maxval: TensorLike, /, *, seed: int = 0, seed2: int = 0, Tout: DTypeLike | None = None, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RandomUniformInt and return the Output."""
    def Range(self, start: TensorLike, limit: TensorLike, delta: TensorLike, /, *, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Range and return the Output."""
    def RangeDataset(self, start: TensorLike, stop: TensorLike, step: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', replicate_on_split: bool = False, name: str | None = None) -> Output:
        """Add a node of type RangeDataset and return the Output."""
    def Rank(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Rank and return the Output."""
    def ReadFile(self, filename: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ReadFile and return the Output."""
    def ReadVariableOp(self, resource: OutputLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type ReadVariableOp and return the Output."""
    def ReadVariableXlaSplitND(self, resource: OutputLike, /, *, T: DTypeLike, N: int, num_splits: Sequence[int], paddings: Sequence[int] = ..., name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type ReadVariableXlaSplitND and return a tuple of Outputs."""
    def ReaderNumRecordsProduced(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ReaderNumRecordsProduced and return the Output."""
    def ReaderNumRecordsProducedV2(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ReaderNumRecordsProducedV2 and return the Output."""
    def ReaderNumWorkUnitsCompleted(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ReaderNumWorkUnitsCompleted and return the Output."""
    def ReaderNumWorkUnitsCompletedV2(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ReaderNumWorkUnitsCompletedV2 and return the Output."""
    def ReaderRead(self, reader_handle: OutputLike, queue_handle: OutputLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type ReaderRead and return a tuple of Outputs."""
    def ReaderReadUpTo(self, reader_handle: OutputLike, queue_handle: OutputLike, num_records: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type ReaderReadUpTo and return a tuple of Outputs."""
    def ReaderReadUpToV2(self, reader_handle: OutputLike, queue_handle: OutputLike, num_records: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type ReaderReadUpToV2 and return a tuple of Outputs."""
    def ReaderReadV2(self, reader_handle: OutputLike, queue_handle: OutputLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type ReaderReadV2 and return a tuple of Outputs."""
    def ReaderReset(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ReaderReset and return the Node."""
    def ReaderResetV2(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ReaderResetV2 and return the Node."""
    def ReaderRestoreState(self, reader_handle: OutputLike, state: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ReaderRestoreState and return the Node."""
    def ReaderRestoreStateV2(self, reader_handle: OutputLike, state: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ReaderRestoreStateV2 and return the Node."""
    def ReaderSerializeState(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ReaderSerializeState and return the Output."""
    def ReaderSerializeStateV2(self, reader_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ReaderSerializeStateV2 and return the Output."""
    def Real(self, input: TensorLike, /, *, T: DTypeLike = ..., Tout: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Real and return the Output."""
    def RealDiv(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RealDiv and return the Output."""
    def RebatchDataset(self, input_dataset: OutputLike, num_replicas: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], use_fallback: bool = True, name: str | None = None) -> Output:
        """Add a node of type RebatchDataset and return the Output."""
    def RebatchDatasetV2(self, input_dataset: OutputLike, batch_sizes: TensorLike, drop_remainder: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type RebatchDatasetV2 and return the Output."""
    def Reciprocal(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Reciprocal and return the Output."""
    def ReciprocalGrad(self, y: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ReciprocalGrad and return the Output."""
    def RecordInput(self, *, file_pattern: str | bytes, file_random_seed: int = 301, file_shuffle_shift_ratio: float = 0.0, file_buffer_size: int = 10000, file_parallelism: int = 16, batch_size: int = 32, compression_type: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type RecordInput and return the Output."""
    def Recv(self, *, tensor_type: DTypeLike, tensor_name: str | bytes, send_device: str | bytes, send_device_incarnation: int, recv_device: str | bytes, client_terminated: bool = False, name: str | None = None) -> Output:
        """Add a node of type Recv and return the Output."""
    def RecvTPUEmbeddingActivations(self, *, num_outputs: int, config: str | bytes, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type RecvTPUEmbeddingActivations and return a tuple of Outputs."""
    def ReduceDataset(self, input_dataset: OutputLike, initial_state: Sequence[TensorLike], other_arguments: Sequence[TensorLike], /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tstate: Sequence[DTypeLike] | None = None, Targuments: Sequence[DTypeLike] | None = None, use_inter_op_parallelism: bool = True, metadata: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type ReduceDataset and return a tuple of Outputs."""
    def ReduceJoin(self, inputs: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, separator: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ReduceJoin and return the Output."""
    def RefEnter(self, data: OutputLike, /, *, frame_name: str | bytes, T: DTypeLike | None = None, is_constant: bool = False, parallel_iterations: int = 10, name: str | None = None) -> Output:
        """Add a node of type RefEnter and return the Output."""
    def RefExit(self, data: OutputLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RefExit and return the Output."""
    def RefIdentity(self, input: OutputLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RefIdentity and return the Output."""
    def RefIn(self, a: OutputLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type RefIn and return the Node."""
    def RefInputFloatInput(self, a: OutputLike, b: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type RefInputFloatInput and return the Node."""
    def RefInputFloatInputIntOutput(self, a: OutputLike, b: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type RefInputFloatInputIntOutput and return the Output."""
    def RefInputIntInput(self, a: OutputLike, b: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type RefInputIntInput and return the Node."""
    def RefMerge(self, inputs: Sequence[OutputLike], /, *, T: DTypeLike | None = None, N: int | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RefMerge and return a tuple of Outputs."""
    def RefNextIteration(self, data: OutputLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RefNextIteration and return the Output."""
    def RefOut(self, *, T: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type RefOut and return the Output."""
    def RefOutput(self, *, name: str | None = None) -> Output:
        """Add a node of type RefOutput and return the Output."""
    def RefOutputFloatOutput(self, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RefOutputFloatOutput and return a tuple of Outputs."""
    def RefSelect(self, index: TensorLike, inputs: Sequence[OutputLike], /, *, T: DTypeLike | None = None, N: int | None = None, name: str | None = None) -> Output:
        """Add a node of type RefSelect and return the Output."""
    def RefSwitch(self, data: OutputLike, pred: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RefSwitch and return a tuple of Outputs."""
    def RegexFullMatch(self, input: TensorLike, pattern: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type RegexFullMatch and return the Output."""
    def RegexReplace(self, input: TensorLike, pattern: TensorLike, rewrite: TensorLike, /, *, replace_global: bool = True, name: str | None = None) -> Output:
        """Add a node of type RegexReplace and return the Output."""
    def RegisterDataset(self, dataset: OutputLike, address: TensorLike, protocol: TensorLike, /, *, external_state_policy: int, element_spec: str | bytes = '', metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type RegisterDataset and return the Output."""
    def RegisterDatasetV2(self, dataset: OutputLike, address: TensorLike, protocol: TensorLike, /, *, external_state_policy: int, element_spec: str | bytes = '', requested_dataset_id: str | bytes = '', metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type RegisterDatasetV2 and return the Output."""
    def Relayout(self, input: TensorLike, /, *, layout: str | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Relayout and return the Output."""
    def RelayoutLike(self, input: TensorLike, layout_input: TensorLike, /, *, T: DTypeLike | None = None, U: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RelayoutLike and return the Output."""
    def Relu(self, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Relu and return the Output."""
    def Relu6(self, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Relu6 and return the Output."""
    def Relu6Grad(self, gradients: TensorLike, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Relu6Grad and return the Output."""
    def ReluGrad(self, gradients: TensorLike, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ReluGrad and return the Output."""
    def RemoteCall(self, target: TensorLike, args: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], f: FuncRef | str, Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type RemoteCall and return a tuple of Outputs."""
    def RepeatDataset(self, input_dataset: OutputLike, count: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type RepeatDataset and return the Output."""
    def RequantizationRange(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, Tinput: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RequantizationRange and return a tuple of Outputs."""
    def RequantizationRangePerChannel(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, /, *, clip_value_max: float, T: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RequantizationRangePerChannel and return a tuple of Outputs."""
    def Requantize(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, requested_output_min: TensorLike, requested_output_max: TensorLike, /, *, out_type: DTypeLike, Tinput: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type Requantize and return a tuple of Outputs."""
    def RequantizePerChannel(self, input: TensorLike, input_min: TensorLike, input_max: TensorLike, requested_output_min: TensorLike, requested_output_max: TensorLike, /, *, T: DTypeLike = ..., out_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type RequantizePerChannel and return a tuple of Outputs."""
    def RequiresOlderGraphVersion(self, *, name: str | None = None) -> Output:
        """Add a node of type RequiresOlderGraphVersion and return the Output."""
    def ReservedAttr(self, *, range: int, name: str | None = None) -> Node:
        """Add a node of type ReservedAttr and return the Node."""
    def ReservedInput(self, input: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ReservedInput and return the Node."""
    def Reshape(self, tensor: TensorLike, shape: TensorLike, /, *, T: DTypeLike | None = None, Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Reshape and return the Output."""
    def ResizeArea(self, images: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, name: str | None = None) -> Output:
        """Add a node of type ResizeArea and return the Output."""
    def ResizeBicubic(self, images: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Output:
        """Add a node of type ResizeBicubic and return the Output."""
    def ResizeBicubicGrad(self, grads: TensorLike, original_image: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Output:
        """Add a node of type ResizeBicubicGrad and return the Output."""
    def ResizeBilinear(self, images: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Output:
        """Add a node of type ResizeBilinear and return the Output."""
    def ResizeBilinearGrad(self, grads: TensorLike, original_image: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Output:
        """Add a node of type ResizeBilinearGrad and return the Output."""
    def ResizeNearestNeighbor(self, images: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Output:
        """Add a node of type ResizeNearestNeighbor and return the Output."""
    def ResizeNearestNeighborGrad(self, grads: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Output:
        """Add a node of type ResizeNearestNeighborGrad and return the Output."""
    def ResourceAccumulatorApplyGradient(self, handle: OutputLike, local_step: TensorLike, gradient: TensorLike, /, *, dtype: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type ResourceAccumulatorApplyGradient and return the Node."""
    def ResourceAccumulatorNumAccumulated(self, handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ResourceAccumulatorNumAccumulated and return the Output."""
    def ResourceAccumulatorSetGlobalStep(self, handle: OutputLike, new_global_step: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ResourceAccumulatorSetGlobalStep and return the Node."""
    def ResourceAccumulatorTakeGradient(self, handle: OutputLike, num_required: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type ResourceAccumulatorTakeGradient and return the Output."""
    def ResourceApplyAdaMax(self, var: OutputLike, m: OutputLike, v: OutputLike, beta1_power: TensorLike, lr: TensorLike, beta1: TensorLike, beta2: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyAdaMax and return the Node."""
    def ResourceApplyAdadelta(self, var: OutputLike, accum: OutputLike, accum_update: OutputLike, lr: TensorLike, rho: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyAdadelta and return the Node."""
    def ResourceApplyAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyAdagrad and return the Node."""
    def ResourceApplyAdagradDA(self, var: OutputLike, gradient_accumulator: OutputLike, gradient_squared_accumulator: OutputLike, grad: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, global_step: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyAdagradDA and return the Node."""
    def ResourceApplyAdagradV2(self, var: OutputLike, accum: OutputLike, lr: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyAdagradV2 and return the Node."""
    def ResourceApplyAdam(self, var: OutputLike, m: OutputLike, v: OutputLike, beta1_power: TensorLike, beta2_power: TensorLike, lr: TensorLike, beta1: TensorLike, beta2: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyAdam and return the Node."""
    def ResourceApplyAdamWithAmsgrad(self, var: OutputLike, m: OutputLike, v: OutputLike, vhat: OutputLike, beta1_power: TensorLike, beta2_power: TensorLike, lr: TensorLike, beta1: TensorLike, beta2: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyAdamWithAmsgrad and return the Node."""
    def ResourceApplyAddSign(self, var: OutputLike, m: OutputLike, lr: TensorLike, alpha: TensorLike, sign_decay: TensorLike, beta: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyAddSign and return the Node."""
    def ResourceApplyCenteredRMSProp(self, var: OutputLike, mg: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyCenteredRMSProp and return the Node."""
    def ResourceApplyFtrl(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyFtrl and return the Node."""
    def ResourceApplyFtrlV2(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, l2_shrinkage: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyFtrlV2 and return the Node."""
    def ResourceApplyGradientDescent(self, var: OutputLike, alpha: TensorLike, delta: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyGradientDescent and return the Node."""
    def ResourceApplyKerasMomentum(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, momentum: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyKerasMomentum and return the Node."""
    def ResourceApplyMomentum(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, momentum: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyMomentum and return the Node."""
    def ResourceApplyPowerSign(self, var: OutputLike, m: OutputLike, lr: TensorLike, logbase: TensorLike, sign_decay: TensorLike, beta: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyPowerSign and return the Node."""
    def ResourceApplyProximalAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyProximalAdagrad and return the Node."""
    def ResourceApplyProximalGradientDescent(self, var: OutputLike, alpha: TensorLike, l1: TensorLike, l2: TensorLike, delta: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyProximalGradientDescent and return the Node."""
    def ResourceApplyRMSProp(self, var: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, /, *, T: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceApplyRMSProp and return the Node."""
    def ResourceConditionalAccumulator(self, *, dtype: DTypeLike, shape: ShapeLike, container: str | bytes = '', shared_name: str | bytes = '', reduction_type: Literal['MEAN', 'SUM'] | bytes = 'MEAN', name: str | None = None) -> Output:
        """Add a node of type ResourceConditionalAccumulator and return the Output."""
    def ResourceCountUpTo(self, resource: OutputLike, /, *, limit: int, T: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type ResourceCountUpTo and return the Output."""
    def ResourceCreateOp(self, resource: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ResourceCreateOp and return the Node."""
    def ResourceGather(self, resource: OutputLike, indices: TensorLike, /, *, dtype: DTypeLike, batch_dims: int = 0, validate_indices: bool = True, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ResourceGather and return the Output."""
    def ResourceGatherNd(self, resource: OutputLike, indices: TensorLike, /, *, dtype: DTypeLike, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ResourceGatherNd and return the Output."""
    def ResourceInitializedOp(self, resource: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ResourceInitializedOp and return the Output."""
    def ResourceScatterAdd(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type ResourceScatterAdd and return the Node."""
    def ResourceScatterDiv(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type ResourceScatterDiv and return the Node."""
    def ResourceScatterMax(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type ResourceScatterMax and return the Node."""
    def ResourceScatterMin(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type ResourceScatterMin and return the Node."""
    def ResourceScatterMul(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type ResourceScatterMul and return the Node."""
    def ResourceScatterNdAdd(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, bad_indices_policy: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type ResourceScatterNdAdd and return the Node."""
    def ResourceScatterNdMax(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, bad_indices_policy: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type ResourceScatterNdMax and return the Node."""
    def ResourceScatterNdMin(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, bad_indices_policy: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type ResourceScatterNdMin and return the Node."""
    def ResourceScatterNdSub(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, bad_indices_policy: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type ResourceScatterNdSub and return the Node."""
    def ResourceScatterNdUpdate(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, bad_indices_policy: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type ResourceScatterNdUpdate and return the Node."""
    def ResourceScatterSub(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type ResourceScatterSub and return the Node."""
    def ResourceScatterUpdate(self, resource: OutputLike, indices: TensorLike, updates: TensorLike, /, *, dtype: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type ResourceScatterUpdate and return the Node."""
    def ResourceSparseApplyAdadelta(self, var: OutputLike, accum: OutputLike, accum_update: OutputLike, lr: TensorLike, rho: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceSparseApplyAdadelta and return the Node."""
    def ResourceSparseApplyAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Node:
        """Add a node of type ResourceSparseApplyAdagrad and return the Node."""
    def ResourceSparseApplyAdagradDA(self, var: OutputLike, gradient_accumulator: OutputLike, gradient_squared_accumulator: OutputLike, grad: TensorLike, indices: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, global_step: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceSparseApplyAdagradDA and return the Node."""
    def ResourceSparseApplyAdagradV2(self, var: OutputLike, accum: OutputLike, lr: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Node:
        """Add a node of type ResourceSparseApplyAdagradV2 and return the Node."""
    def ResourceSparseApplyCenteredRMSProp(self, var: OutputLike, mg: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceSparseApplyCenteredRMSProp and return the Node."""
    def ResourceSparseApplyFtrl(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, indices: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceSparseApplyFtrl and return the Node."""
    def ResourceSparseApplyFtrlV2(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, indices: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, l2_shrinkage: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceSparseApplyFtrlV2 and return the Node."""
    def ResourceSparseApplyKerasMomentum(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, indices: TensorLike, momentum: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceSparseApplyKerasMomentum and return the Node."""
    def ResourceSparseApplyMomentum(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, indices: TensorLike, momentum: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceSparseApplyMomentum and return the Node."""
    def ResourceSparseApplyProximalAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceSparseApplyProximalAdagrad and return the Node."""
    def ResourceSparseApplyProximalGradientDescent(self, var: OutputLike, alpha: TensorLike, l1: TensorLike, l2: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceSparseApplyProximalGradientDescent and return the Node."""
    def ResourceSparseApplyRMSProp(self, var: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Node:
        """Add a node of type ResourceSparseApplyRMSProp and return the Node."""
    def ResourceStridedSliceAssign(self, ref: OutputLike, begin: TensorLike, end: TensorLike, strides: TensorLike, value: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Node:
        """Add a node of type ResourceStridedSliceAssign and return the Node."""
    def ResourceUsingOp(self, resource: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type ResourceUsingOp and return the Node."""
    def Restore(self, file_pattern: TensorLike, tensor_name: TensorLike, /, *, dt: DTypeLike, preferred_shard: int = -1, name: str | None = None) -> Output:
        """Add a node of type Restore and return the Output."""
    def RestoreSlice(self, file_pattern: TensorLike, tensor_name: TensorLike, shape_and_slice: TensorLike, /, *, dt: DTypeLike, preferred_shard: int = -1, name: str | None = None) -> Output:
        """Add a node of type RestoreSlice and return the Output."""
    def RestoreV2(self, prefix: TensorLike, tensor_names: TensorLike, shape_and_slices: TensorLike, /, *, dtypes: Sequence[DTypeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type RestoreV2 and return a tuple of Outputs."""
    def Restrict(self, a: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Restrict and return the Output."""
    def RetrieveAllTPUEmbeddingParameters(self, *, NumTables: int, config: str | bytes, num_shards: int, shard_id: int, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type RetrieveAllTPUEmbeddingParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingADAMParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingADAMParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingAdadeltaParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingAdadeltaParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingAdagradMomentumParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingAdagradMomentumParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingAdagradParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingAdagradParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingCenteredRMSPropParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingCenteredRMSPropParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingFTRLParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingFTRLParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingFrequencyEstimatorParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingFrequencyEstimatorParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingMDLAdagradLightParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingMDLAdagradLightParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingMomentumParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingMomentumParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingProximalAdagradParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingProximalAdagradParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingProximalYogiParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingProximalYogiParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingRMSPropParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type RetrieveTPUEmbeddingRMSPropParameters and return a tuple of Outputs."""
    def RetrieveTPUEmbeddingStochasticGradientDescentParameters(self, *, num_shards: int, shard_id: int, table_id: int = -1, table_name: str | bytes = '', config: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type RetrieveTPUEmbeddingStochasticGradientDescentParameters and return the Output."""
    def Reverse(self, tensor: TensorLike, dims: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Reverse and return the Output."""
    def ReverseSequence(self, input: TensorLike, seq_lengths: TensorLike, /, *, seq_dim: int, batch_dim: int = 0, T: DTypeLike | None = None, Tlen: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type ReverseSequence and return the Output."""
    def ReverseV2(self, tensor: TensorLike, axis: TensorLike, /, *, Tidx: DTypeLike = ..., T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ReverseV2 and return the Output."""
    def RewriteDataset(self, input_dataset: OutputLike, rewrite_name: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type RewriteDataset and return the Output."""
    def RightShift(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RightShift and return the Output."""
    def Rint(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Rint and return the Output."""
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
        """Add a node of type RngReadAndSkip and return the Output."""
    def RngSkip(self, resource: OutputLike, algorithm: TensorLike, delta: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type RngSkip and return the Node."""
    def Roll(self, input: TensorLike, shift: TensorLike, axis: TensorLike, /, *, T: DTypeLike | None = None, Tshift: DTypeLike | None = None, Taxis: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Roll and return the Output."""
    def Round(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Round and return the Output."""
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
        """Add a node of type Rsqrt and return the Output."""
    def RsqrtGrad(self, y: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type RsqrtGrad and return the Output."""
    def SampleDistortedBoundingBox(self, image_size: TensorLike, bounding_boxes: TensorLike, /, *, T: DTypeLike | None = None, seed: int = 0, seed2: int = 0, min_object_covered: float = 0.10000000149011612, aspect_ratio_range: Sequence[float] = ..., area_range: Sequence[float] = ..., max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SampleDistortedBoundingBox and return a tuple of Outputs."""
    def SampleDistortedBoundingBoxV2(self, image_size: TensorLike, bounding_boxes: TensorLike, min_object_covered: TensorLike, /, *, T: DTypeLike | None = None, seed: int = 0, seed2: int = 0, aspect_ratio_range: Sequence[float] = ..., area_range: Sequence[float] = ..., max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SampleDistortedBoundingBoxV2 and return a tuple of Outputs."""
    def SamplingDataset(self, input_dataset: OutputLike, rate: TensorLike, seed: TensorLike, seed2: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type SamplingDataset and return the Output."""
    def Save(self, filename: TensorLike, tensor_names: TensorLike, data: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Add a node of type Save and return the Node."""
    def SaveDataset(self, input_dataset: OutputLike, path: TensorLike, shard_func_other_args: Sequence[TensorLike], /, *, shard_func: FuncRef | str, compression: str | bytes = '', use_shard_func: bool = True, Tshard_func_args: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Add a node of type SaveDataset and return the Node."""
    def SaveDatasetV2(self, input_dataset: OutputLike, path: TensorLike, shard_func_other_args: Sequence[TensorLike], /, *, shard_func: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], compression: str | bytes = '', use_shard_func: bool = True, Tshard_func_args: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type SaveDatasetV2 and return the Output."""
    def SaveSlices(self, filename: TensorLike, tensor_names: TensorLike, shapes_and_slices: TensorLike, data: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Add a node of type SaveSlices and return the Node."""
    def SaveV2(self, prefix: TensorLike, tensor_names: TensorLike, shape_and_slices: TensorLike, tensors: Sequence[TensorLike], /, *, dtypes: Sequence[DTypeLike] | None = None, name: str | None = None) -> Node:
        """Add a node of type SaveV2 and return the Node."""
    def ScalarSummary(self, tags: TensorLike, values: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ScalarSummary and return the Output."""
    def ScaleAndTranslate(self, images: TensorLike, size: TensorLike, scale: TensorLike, translation: TensorLike, /, *, T: DTypeLike | None = None, kernel_type: str | bytes = 'lanczos3', antialias: bool = True, name: str | None = None) -> Output:
        """Add a node of type ScaleAndTranslate and return the Output."""
    def ScaleAndTranslateGrad(self, grads: TensorLike, original_image: TensorLike, scale: TensorLike, translation: TensorLike, /, *, T: DTypeLike | None = None, kernel_type: str | bytes = 'lanczos3', antialias: bool = True, name: str | None = None) -> Output:
        """Add a node of type ScaleAndTranslateGrad and return the Output."""
    def ScanDataset(self, input_dataset: OutputLike, initial_state: Sequence[TensorLike], other_arguments: Sequence[TensorLike], /, *, f: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tstate: Sequence[DTypeLike] | None = None, Targuments: Sequence[DTypeLike] | None = None, preserve_cardinality: bool = False, use_default_device: bool = True, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ScanDataset and return the Output."""
    def ScatterAdd(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ScatterAdd and return the Output."""
    def ScatterDiv(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ScatterDiv and return the Output."""
    def ScatterMax(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ScatterMax and return the Output."""
    def ScatterMin(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ScatterMin and return the Output."""
    def ScatterMul(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ScatterMul and return the Output."""
    def ScatterNd(self, indices: TensorLike, updates: TensorLike, shape: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ScatterNd and return the Output."""
    def ScatterNdAdd(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ScatterNdAdd and return the Output."""
    def ScatterNdMax(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ScatterNdMax and return the Output."""
    def ScatterNdMin(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ScatterNdMin and return the Output."""
    def ScatterNdNonAliasingAdd(self, input: TensorLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ScatterNdNonAliasingAdd and return the Output."""
    def ScatterNdSub(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ScatterNdSub and return the Output."""
    def ScatterNdUpdate(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ScatterNdUpdate and return the Output."""
    def ScatterSub(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type ScatterSub and return the Output."""
    def ScatterUpdate(self, ref: OutputLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = True, name: str | None = None) -> Output:
        """Add a node of type ScatterUpdate and return the Output."""
    def SdcaFprint(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type SdcaFprint and return the Output."""
    def SdcaOptimizer(self, sparse_example_indices: Sequence[TensorLike], sparse_feature_indices: Sequence[TensorLike], sparse_feature_values: Sequence[TensorLike], dense_features: Sequence[TensorLike], example_weights: TensorLike, example_labels: TensorLike, sparse_indices: Sequence[TensorLike], sparse_weights: Sequence[TensorLike], dense_weights: Sequence[TensorLike], example_state_data: TensorLike, /, *, loss_type: Literal['logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss', 'poisson_loss'] | bytes, l1: float, l2: float, num_loss_partitions: int, num_inner_iterations: int, adaptative: bool = False, num_sparse_features: int | None = None, num_sparse_features_with_values: int | None = None, num_dense_features: int | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type SdcaOptimizer and return a tuple of Outputs."""
    def SdcaOptimizerV2(self, sparse_example_indices: Sequence[TensorLike], sparse_feature_indices: Sequence[TensorLike], sparse_feature_values: Sequence[TensorLike], dense_features: Sequence[TensorLike], example_weights: TensorLike, example_labels: TensorLike, sparse_indices: Sequence[TensorLike], sparse_weights: Sequence[TensorLike], dense_weights: Sequence[TensorLike], example_state_data: TensorLike, /, *, loss_type: Literal['logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss', 'poisson_loss'] | bytes, l1: float, l2: float, num_loss_partitions: int, num_inner_iterations: int, adaptive: bool = False, num_sparse_features: int | None = None, num_sparse_features_with_values: int | None = None, num_dense_features: int | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type SdcaOptimizerV2 and return a tuple of Outputs."""
    def SdcaShrinkL1(self, weights: Sequence[OutputLike], /, *, l1: float, l2: float, num_features: int | None = None, name: str | None = None) -> Node:
        """Add a node of type SdcaShrinkL1 and return the Node."""
    def SegmentMax(self, data: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SegmentMax and return the Output."""
    def SegmentMaxV2(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SegmentMaxV2 and return the Output."""
    def SegmentMean(self, data: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SegmentMean and return the Output."""
    def SegmentMin(self, data: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SegmentMin and return the Output."""
    def SegmentMinV2(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SegmentMinV2 and return the Output."""
    def SegmentProd(self, data: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SegmentProd and return the Output."""
    def SegmentProdV2(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SegmentProdV2 and return the Output."""
    def SegmentSum(self, data: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SegmentSum and return the Output."""
    def SegmentSumV2(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SegmentSumV2 and return the Output."""
    def Select(self, condition: TensorLike, t: TensorLike, e: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Select and return the Output."""
    def SelectV2(self, condition: TensorLike, t: TensorLike, e: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SelectV2 and return the Output."""
    def SelfAdjointEig(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SelfAdjointEig and return the Output."""
    def SelfAdjointEigV2(self, input: TensorLike, /, *, compute_v: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SelfAdjointEigV2 and return a tuple of Outputs."""
    def Selu(self, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Selu and return the Output."""
    def SeluGrad(self, gradients: TensorLike, outputs: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SeluGrad and return the Output."""
    def Send(self, tensor: TensorLike, /, *, tensor_name: str | bytes, send_device: str | bytes, send_device_incarnation: int, recv_device: str | bytes, T: DTypeLike | None = None, client_terminated: bool = False, name: str | None = None) -> Node:
        """Add a node of type Send and return the Node."""
    def SendTPUEmbeddingGradients(self, inputs: Sequence[TensorLike], learning_rates: Sequence[TensorLike], /, *, config: str | bytes, N: int | None = None, NN: int = 0, name: str | None = None) -> Node:
        """Add a node of type SendTPUEmbeddingGradients and return the Node."""
    def SerializeIterator(self, resource_handle: OutputLike, /, *, external_state_policy: int = 0, name: str | None = None) -> Output:
        """Add a node of type SerializeIterator and return the Output."""
    def SerializeManySparse(self, sparse_indices: TensorLike, sparse_values: TensorLike, sparse_shape: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SerializeManySparse and return the Output."""
    def SerializeSparse(self, sparse_indices: TensorLike, sparse_values: TensorLike, sparse_shape: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SerializeSparse and return the Output."""
    def SerializeTensor(self, tensor: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SerializeTensor and return the Output."""
    def SetSize(self, set_indices: TensorLike, set_values: TensorLike, set_shape: TensorLike, /, *, validate_indices: bool = True, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SetSize and return the Output."""
    def SetStatsAggregatorDataset(self, input_dataset: OutputLike, stats_aggregator: OutputLike, tag: TensorLike, counter_prefix: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type SetStatsAggregatorDataset and return the Output."""
    def Shape(self, input: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Shape and return the Output."""
    def ShapeN(self, input: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type ShapeN and return a tuple of Outputs."""
    def ShardDataset(self, input_dataset: OutputLike, num_shards: TensorLike, index: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], require_non_empty: bool = False, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ShardDataset and return the Output."""
    def ShardedFilename(self, basename: TensorLike, shard: TensorLike, num_shards: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ShardedFilename and return the Output."""
    def ShardedFilespec(self, basename: TensorLike, num_shards: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type ShardedFilespec and return the Output."""
    def ShuffleAndRepeatDataset(self, input_dataset: OutputLike, buffer_size: TensorLike, seed: TensorLike, seed2: TensorLike, count: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reshuffle_each_iteration: bool = True, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ShuffleAndRepeatDataset and return the Output."""
    def ShuffleAndRepeatDatasetV2(self, input_dataset: OutputLike, buffer_size: TensorLike, seed: TensorLike, seed2: TensorLike, count: TensorLike, seed_generator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reshuffle_each_iteration: bool = True, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ShuffleAndRepeatDatasetV2 and return the Output."""
    def ShuffleDataset(self, input_dataset: OutputLike, buffer_size: TensorLike, seed: TensorLike, seed2: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reshuffle_each_iteration: bool = True, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ShuffleDataset and return the Output."""
    def ShuffleDatasetV2(self, input_dataset: OutputLike, buffer_size: TensorLike, seed_generator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ShuffleDatasetV2 and return the Output."""
    def ShuffleDatasetV3(self, input_dataset: OutputLike, buffer_size: TensorLike, seed: TensorLike, seed2: TensorLike, seed_generator: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reshuffle_each_iteration: bool = True, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ShuffleDatasetV3 and return the Output."""
    def ShutdownDistributedTPU(self, *, name: str | None = None) -> Node:
        """Add a node of type ShutdownDistributedTPU and return the Node."""
    def ShutdownTPUSystem(self, *, name: str | None = None) -> Output:
        """Add a node of type ShutdownTPUSystem and return the Output."""
    def Sigmoid(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Sigmoid and return the Output."""
    def SigmoidGrad(self, y: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SigmoidGrad and return the Output."""
    def Sign(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Sign and return the Output."""
    def Simple(self, a: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type Simple and return the Output."""
    def SimpleStruct(self, *, n_a: int, name: str | None = None) -> OutputsOrNode:
        """Add a node of type SimpleStruct and return a tuple of Outputs."""
    def Sin(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Sin and return the Output."""
    def Sinh(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Sinh and return the Output."""
    def Size(self, input: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Size and return the Output."""
    def SkipDataset(self, input_dataset: OutputLike, count: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type SkipDataset and return the Output."""
    def Skipgram(self, *, filename: str | bytes, batch_size: int, window_size: int = 5, min_count: int = 5, subsample: float = 0.0010000000474974513, name: str | None = None) -> tuple[Output, Output, Output, Output, Output, Output, Output]:
        """Add a node of type Skipgram and return a tuple of Outputs."""
    def SleepDataset(self, input_dataset: OutputLike, sleep_microseconds: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type SleepDataset and return the Output."""
    def SleepIdentityOp(self, sleep_seconds: TensorLike, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SleepIdentityOp and return the Output."""
    def SleepOp(self, sleep_seconds: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type SleepOp and return the Node."""
    def Slice(self, input: TensorLike, begin: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Slice and return the Output."""
    def SlidingWindowDataset(self, input_dataset: OutputLike, window_size: TensorLike, window_shift: TensorLike, window_stride: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], drop_remainder: bool = True, name: str | None = None) -> Output:
        """Add a node of type SlidingWindowDataset and return the Output."""
    def Snapshot(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Snapshot and return the Output."""
    def SnapshotChunkDataset(self, chunk_file: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], compression: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type SnapshotChunkDataset and return the Output."""
    def SnapshotDataset(self, input_dataset: OutputLike, path: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], compression: str | bytes = '', reader_path_prefix: str | bytes = '', writer_path_prefix: str | bytes = '', shard_size_bytes: int = 10737418240, pending_snapshot_expiry_seconds: int = 86400, num_reader_threads: int = 1, reader_buffer_size: int = 1, num_writer_threads: int = 1, writer_buffer_size: int = 1, shuffle_on_read: bool = False, seed: int = 0, seed2: int = 0, mode: str | bytes = 'auto', snapshot_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type SnapshotDataset and return the Output."""
    def SnapshotDatasetReader(self, shard_dir: TensorLike, start_index: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], version: int, compression: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type SnapshotDatasetReader and return the Output."""
    def SnapshotDatasetV2(self, input_dataset: OutputLike, path: TensorLike, reader_func_other_args: Sequence[TensorLike], shard_func_other_args: Sequence[TensorLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], reader_func: FuncRef | str, shard_func: FuncRef | str, compression: str | bytes = '', reader_prefix: str | bytes = '', writer_prefix: str | bytes = '', hash_valid: bool = False, hash: int = 0, Treader_func_args: Sequence[DTypeLike] | None = None, Tshard_func_args: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type SnapshotDatasetV2 and return the Output."""
    def SnapshotNestedDatasetReader(self, inputs: Sequence[OutputLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, name: str | None = None) -> Output:
        """Add a node of type SnapshotNestedDatasetReader and return the Output."""
    def SobolSample(self, dim: TensorLike, num_results: TensorLike, skip: TensorLike, /, *, dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SobolSample and return the Output."""
    def Softmax(self, logits: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Softmax and return the Output."""
    def SoftmaxCrossEntropyWithLogits(self, features: TensorLike, labels: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SoftmaxCrossEntropyWithLogits and return a tuple of Outputs."""
    def Softplus(self, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Softplus and return the Output."""
    def SoftplusGrad(self, gradients: TensorLike, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SoftplusGrad and return the Output."""
    def Softsign(self, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Softsign and return the Output."""
    def SoftsignGrad(self, gradients: TensorLike, features: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SoftsignGrad and return the Output."""
    def SortListOfSparseCoreCooTensors(self, row_ids_list: Sequence[TensorLike], col_ids_list: Sequence[TensorLike], gains_list: Sequence[TensorLike], /, *, sample_count_list: Sequence[int], col_offset_list: Sequence[int], num_replica: int, table_vocab_size: int, feature_width: int, num_sc_per_chip: int, max_ids_per_sparse_core: int, max_unique_ids_per_sparse_core: int, table_name: str | bytes, N: int | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type SortListOfSparseCoreCooTensors and return a tuple of Outputs."""
    def SpaceToBatch(self, input: TensorLike, paddings: TensorLike, /, *, block_size: int, T: DTypeLike | None = None, Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SpaceToBatch and return the Output."""
    def SpaceToBatchND(self, input: TensorLike, block_shape: TensorLike, paddings: TensorLike, /, *, T: DTypeLike | None = None, Tblock_shape: DTypeLike = ..., Tpaddings: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SpaceToBatchND and return the Output."""
    def SpaceToDepth(self, input: TensorLike, /, *, block_size: int, T: DTypeLike | None = None, data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] | bytes = 'NHWC', name: str | None = None) -> Output:
        """Add a node of type SpaceToDepth and return the Output."""
    def SparseAccumulatorApplyGradient(self, handle: OutputLike, local_step: TensorLike, gradient_indices: TensorLike, gradient_values: TensorLike, gradient_shape: TensorLike, /, *, has_known_shape: bool, dtype: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type SparseAccumulatorApplyGradient and return the Node."""
    def SparseAccumulatorTakeGradient(self, handle: OutputLike, num_required: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SparseAccumulatorTakeGradient and return a tuple of Outputs."""
    def SparseAdd(self, a_indices: TensorLike, a_values: TensorLike, a_shape: TensorLike, b_indices: TensorLike, b_values: TensorLike, b_shape: TensorLike, thresh: TensorLike, /, *, T: DTypeLike | None = None, Treal: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SparseAdd and return a tuple of Outputs."""
    def SparseAddGrad(self, backprop_val_grad: TensorLike, a_indices: TensorLike, b_indices: TensorLike, sum_indices: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SparseAddGrad and return a tuple of Outputs."""
    def SparseApplyAdadelta(self, var: OutputLike, accum: OutputLike, accum_update: OutputLike, lr: TensorLike, rho: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseApplyAdadelta and return the Output."""
    def SparseApplyAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Output:
        """Add a node of type SparseApplyAdagrad and return the Output."""
    def SparseApplyAdagradDA(self, var: OutputLike, gradient_accumulator: OutputLike, gradient_squared_accumulator: OutputLike, grad: TensorLike, indices: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, global_step: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseApplyAdagradDA and return the Output."""
    def SparseApplyAdagradV2(self, var: OutputLike, accum: OutputLike, lr: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Output:
        """Add a node of type SparseApplyAdagradV2 and return the Output."""
    def SparseApplyCenteredRMSProp(self, var: OutputLike, mg: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseApplyCenteredRMSProp and return the Output."""
    def SparseApplyFtrl(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, indices: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseApplyFtrl and return the Output."""
    def SparseApplyFtrlV2(self, var: OutputLike, accum: OutputLike, linear: OutputLike, grad: TensorLike, indices: TensorLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, l2_shrinkage: TensorLike, lr_power: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseApplyFtrlV2 and return the Output."""
    def SparseApplyMomentum(self, var: OutputLike, accum: OutputLike, lr: TensorLike, grad: TensorLike, indices: TensorLike, momentum: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseApplyMomentum and return the Output."""
    def SparseApplyProximalAdagrad(self, var: OutputLike, accum: OutputLike, lr: TensorLike, l1: TensorLike, l2: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseApplyProximalAdagrad and return the Output."""
    def SparseApplyProximalGradientDescent(self, var: OutputLike, alpha: TensorLike, l1: TensorLike, l2: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseApplyProximalGradientDescent and return the Output."""
    def SparseApplyRMSProp(self, var: OutputLike, ms: OutputLike, mom: OutputLike, lr: TensorLike, rho: TensorLike, momentum: TensorLike, epsilon: TensorLike, grad: TensorLike, indices: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, use_locking: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseApplyRMSProp and return the Output."""
    def SparseBincount(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike, size: TensorLike, weights: TensorLike, /, *, Tidx: DTypeLike | None = None, T: DTypeLike | None = None, binary_output: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseBincount and return the Output."""
    def SparseConcat(self, indices: Sequence[TensorLike], values: Sequence[TensorLike], shapes: Sequence[TensorLike], /, *, concat_dim: int, N: int | None = None, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SparseConcat and return a tuple of Outputs."""
    def SparseConditionalAccumulator(self, *, dtype: DTypeLike, shape: ShapeLike, container: str | bytes = '', shared_name: str | bytes = '', reduction_type: Literal['MEAN', 'SUM'] | bytes = 'MEAN', name: str | None = None) -> Output:
        """Add a node of type SparseConditionalAccumulator and return the Output."""
    def SparseCountSparseOutput(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike, weights: TensorLike, /, *, binary_output: bool, T: DTypeLike | None = None, minlength: int = -1, maxlength: int = -1, output_type: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SparseCountSparseOutput and return a tuple of Outputs."""
    def SparseCross(self, indices: Sequence[TensorLike], values: Sequence[TensorLike], shapes: Sequence[TensorLike], dense_inputs: Sequence[TensorLike], /, *, hashed_output: bool, num_buckets: int, hash_key: int, out_type: DTypeLike, internal_type: DTypeLike, N: int | None = None, sparse_types: Sequence[DTypeLike] | None = None, dense_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SparseCross and return a tuple of Outputs."""
    def SparseCrossHashed(self, indices: Sequence[TensorLike], values: Sequence[TensorLike], shapes: Sequence[TensorLike], dense_inputs: Sequence[TensorLike], num_buckets: TensorLike, strong_hash: TensorLike, salt: TensorLike, /, *, N: int | None = None, sparse_types: Sequence[DTypeLike] | None = None, dense_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SparseCrossHashed and return a tuple of Outputs."""
    def SparseCrossV2(self, indices: Sequence[TensorLike], values: Sequence[TensorLike], shapes: Sequence[TensorLike], dense_inputs: Sequence[TensorLike], sep: TensorLike, /, *, N: int | None = None, sparse_types: Sequence[DTypeLike] | None = None, dense_types: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SparseCrossV2 and return a tuple of Outputs."""
    def SparseDenseCwiseAdd(self, sp_indices: TensorLike, sp_values: TensorLike, sp_shape: TensorLike, dense: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseDenseCwiseAdd and return the Output."""
    def SparseDenseCwiseDiv(self, sp_indices: TensorLike, sp_values: TensorLike, sp_shape: TensorLike, dense: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseDenseCwiseDiv and return the Output."""
    def SparseDenseCwiseMul(self, sp_indices: TensorLike, sp_values: TensorLike, sp_shape: TensorLike, dense: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseDenseCwiseMul and return the Output."""
    def SparseFillEmptyRows(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike, default_value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output, Output]:
        """Add a node of type SparseFillEmptyRows and return a tuple of Outputs."""
    def SparseFillEmptyRowsGrad(self, reverse_index_map: TensorLike, grad_values: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SparseFillEmptyRowsGrad and return a tuple of Outputs."""
    def SparseMatMul(self, a: TensorLike, b: TensorLike, /, *, transpose_a: bool = False, transpose_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, Ta: DTypeLike = ..., Tb: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SparseMatMul and return the Output."""
    def SparseMatrixAdd(self, a: OutputLike, b: OutputLike, alpha: TensorLike, beta: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseMatrixAdd and return the Output."""
    def SparseMatrixMatMul(self, a: OutputLike, b: TensorLike, /, *, T: DTypeLike | None = None, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False, adjoint_b: bool = False, transpose_output: bool = False, conjugate_output: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseMatrixMatMul and return the Output."""
    def SparseMatrixMul(self, a: OutputLike, b: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseMatrixMul and return the Output."""
    def SparseMatrixNNZ(self, sparse_matrix: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type SparseMatrixNNZ and return the Output."""
    def SparseMatrixOrderingAMD(self, input: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type SparseMatrixOrderingAMD and return the Output."""
    def SparseMatrixSoftmax(self, logits: OutputLike, /, *, type: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type SparseMatrixSoftmax and return the Output."""
    def SparseMatrixSoftmaxGrad(self, softmax: OutputLike, grad_softmax: OutputLike, /, *, type: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type SparseMatrixSoftmaxGrad and return the Output."""
    def SparseMatrixSparseCholesky(self, input: OutputLike, permutation: TensorLike, /, *, type: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type SparseMatrixSparseCholesky and return the Output."""
    def SparseMatrixSparseMatMul(self, a: OutputLike, b: OutputLike, /, *, type: DTypeLike, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseMatrixSparseMatMul and return the Output."""
    def SparseMatrixTranspose(self, input: OutputLike, /, *, type: DTypeLike, conjugate: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseMatrixTranspose and return the Output."""
    def SparseMatrixZeros(self, dense_shape: TensorLike, /, *, type: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type SparseMatrixZeros and return the Output."""
    def SparseReduceMax(self, input_indices: TensorLike, input_values: TensorLike, input_shape: TensorLike, reduction_axes: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseReduceMax and return the Output."""
    def SparseReduceMaxSparse(self, input_indices: TensorLike, input_values: TensorLike, input_shape: TensorLike, reduction_axes: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SparseReduceMaxSparse and return a tuple of Outputs."""
    def SparseReduceSum(self, input_indices: TensorLike, input_values: TensorLike, input_shape: TensorLike, reduction_axes: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseReduceSum and return the Output."""
    def SparseReduceSumSparse(self, input_indices: TensorLike, input_values: TensorLike, input_shape: TensorLike, reduction_axes: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SparseReduceSumSparse and return a tuple of Outputs."""
    def SparseReorder(self, input_indices: TensorLike, input_values: TensorLike, input_shape: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SparseReorder and return a tuple of Outputs."""
    def SparseReshape(self, input_indices: TensorLike, input_shape: TensorLike, new_shape: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SparseReshape and return a tuple of Outputs."""
    def SparseSegmentMean(self, data: TensorLike, indices: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., sparse_gradient: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseSegmentMean and return the Output."""
    def SparseSegmentMeanGrad(self, grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, output_dim0: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SparseSegmentMeanGrad and return the Output."""
    def SparseSegmentMeanGradV2(self, grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, dense_output_dim0: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SparseSegmentMeanGradV2 and return a tuple of Outputs."""
    def SparseSegmentMeanWithNumSegments(self, data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tnumsegments: DTypeLike = ..., Tsegmentids: DTypeLike = ..., sparse_gradient: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseSegmentMeanWithNumSegments and return the Output."""
    def SparseSegmentSqrtN(self, data: TensorLike, indices: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., sparse_gradient: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseSegmentSqrtN and return the Output."""
    def SparseSegmentSqrtNGrad(self, grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, output_dim0: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SparseSegmentSqrtNGrad and return the Output."""
    def SparseSegmentSqrtNGradV2(self, grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, dense_output_dim0: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SparseSegmentSqrtNGradV2 and return a tuple of Outputs."""
    def SparseSegmentSqrtNWithNumSegments(self, data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tnumsegments: DTypeLike = ..., Tsegmentids: DTypeLike = ..., sparse_gradient: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseSegmentSqrtNWithNumSegments and return the Output."""
    def SparseSegmentSum(self, data: TensorLike, indices: TensorLike, segment_ids: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., sparse_gradient: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseSegmentSum and return the Output."""
    def SparseSegmentSumGrad(self, grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, output_dim0: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type SparseSegmentSumGrad and return the Output."""
    def SparseSegmentSumGradV2(self, grad: TensorLike, indices: TensorLike, segment_ids: TensorLike, dense_output_dim0: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tsegmentids: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SparseSegmentSumGradV2 and return a tuple of Outputs."""
    def SparseSegmentSumWithNumSegments(self, data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tidx: DTypeLike = ..., Tnumsegments: DTypeLike = ..., Tsegmentids: DTypeLike = ..., sparse_gradient: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseSegmentSumWithNumSegments and return the Output."""
    def SparseSlice(self, indices: TensorLike, values: TensorLike, shape: TensorLike, start: TensorLike, size: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SparseSlice and return a tuple of Outputs."""
    def SparseSliceGrad(self, backprop_val_grad: TensorLike, input_indices: TensorLike, input_start: TensorLike, output_indices: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseSliceGrad and return the Output."""
    def SparseSoftmax(self, sp_indices: TensorLike, sp_values: TensorLike, sp_shape: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseSoftmax and return the Output."""
    def SparseSoftmaxCrossEntropyWithLogits(self, features: TensorLike, labels: TensorLike, /, *, T: DTypeLike | None = None, Tlabels: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SparseSoftmaxCrossEntropyWithLogits and return a tuple of Outputs."""
    def SparseSparseMaximum(self, a_indices: TensorLike, a_values: TensorLike, a_shape: TensorLike, b_indices: TensorLike, b_values: TensorLike, b_shape: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SparseSparseMaximum and return a tuple of Outputs."""
    def SparseSparseMinimum(self, a_indices: TensorLike, a_values: TensorLike, a_shape: TensorLike, b_indices: TensorLike, b_values: TensorLike, b_shape: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SparseSparseMinimum and return a tuple of Outputs."""
    def SparseSplit(self, split_dim: TensorLike, indices: TensorLike, values: TensorLike, shape: TensorLike, /, *, num_split: int, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type SparseSplit and return a tuple of Outputs."""
    def SparseTensorDenseAdd(self, a_indices: TensorLike, a_values: TensorLike, a_shape: TensorLike, b: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseTensorDenseAdd and return the Output."""
    def SparseTensorDenseMatMul(self, a_indices: TensorLike, a_values: TensorLike, a_shape: TensorLike, b: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike = ..., adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None) -> Output:
        """Add a node of type SparseTensorDenseMatMul and return the Output."""
    def SparseTensorSliceDataset(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike, /, *, Tvalues: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseTensorSliceDataset and return the Output."""
    def SparseTensorToCSRSparseMatrix(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseTensorToCSRSparseMatrix and return the Output."""
    def SparseToDense(self, sparse_indices: TensorLike, output_shape: TensorLike, sparse_values: TensorLike, default_value: TensorLike, /, *, validate_indices: bool = True, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SparseToDense and return the Output."""
    def SparseToSparseSetOperation(self, set1_indices: TensorLike, set1_values: TensorLike, set1_shape: TensorLike, set2_indices: TensorLike, set2_values: TensorLike, set2_shape: TensorLike, /, *, set_operation: str | bytes, validate_indices: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type SparseToSparseSetOperation and return a tuple of Outputs."""
    def Spence(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Spence and return the Output."""
    def Split(self, split_dim: TensorLike, value: TensorLike, /, *, num_split: int, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type Split and return a tuple of Outputs."""
    def SplitDedupData(self, input: OutputLike, /, *, integer_type: DTypeLike, float_type: DTypeLike, tuple_mask: str | bytes, config: str | bytes = '', name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type SplitDedupData and return a tuple of Outputs."""
    def SplitV(self, value: TensorLike, size_splits: TensorLike, split_dim: TensorLike, /, *, num_split: int, T: DTypeLike | None = None, Tlen: DTypeLike = ..., name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type SplitV and return a tuple of Outputs."""
    def SqlDataset(self, driver_name: TensorLike, data_source_name: TensorLike, query: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type SqlDataset and return the Output."""
    def Sqrt(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Sqrt and return the Output."""
    def SqrtGrad(self, y: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SqrtGrad and return the Output."""
    def Square(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Square and return the Output."""
    def SquaredDifference(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type SquaredDifference and return the Output."""
    def Squeeze(self, input: TensorLike, /, *, T: DTypeLike | None = None, squeeze_dims: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type Squeeze and return the Output."""
    def Stack(self, *, elem_type: DTypeLike, stack_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type Stack and return the Output."""
    def StackClose(self, handle: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type StackClose and return the Node."""
    def StackCloseV2(self, handle: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type StackCloseV2 and return the Node."""
    def StackPop(self, handle: OutputLike, /, *, elem_type: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type StackPop and return the Output."""
    def StackPopV2(self, handle: OutputLike, /, *, elem_type: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type StackPopV2 and return the Output."""
    def StackPush(self, handle: OutputLike, elem: TensorLike, /, *, T: DTypeLike | None = None, swap_memory: bool = False, name: str | None = None) -> Output:
        """Add a node of type StackPush and return the Output."""
    def StackPushV2(self, handle: OutputLike, elem: TensorLike, /, *, T: DTypeLike | None = None, swap_memory: bool = False, name: str | None = None) -> Output:
        """Add a node of type StackPushV2 and return the Output."""
    def StackV2(self, max_size: TensorLike, /, *, elem_type: DTypeLike, stack_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type StackV2 and return the Output."""
    def Stage(self, values: Sequence[TensorLike], /, *, capacity: int = 0, memory_limit: int = 0, dtypes: Sequence[DTypeLike] | None = None, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type Stage and return the Node."""
    def StageClear(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type StageClear and return the Node."""
    def StagePeek(self, index: TensorLike, /, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type StagePeek and return a tuple of Outputs."""
    def StageSize(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type StageSize and return the Output."""
    def StatefulPartitionedCall(self, args: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], f: FuncRef | str, Tin: Sequence[DTypeLike] | None = None, config: str | bytes = '', config_proto: str | bytes = '', executor_type: str | bytes = '', name: str | None = None) -> OutputsOrNode:
        """Add a node of type StatefulPartitionedCall and return a tuple of Outputs."""
    def StatefulRandomBinomial(self, resource: OutputLike, algorithm: TensorLike, shape: TensorLike, counts: TensorLike, probs: TensorLike, /, *, S: DTypeLike | None = None, T: DTypeLike = ..., dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatefulRandomBinomial and return the Output."""
    def StatefulStandardNormal(self, resource: OutputLike, shape: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatefulStandardNormal and return the Output."""
    def StatefulStandardNormalV2(self, resource: OutputLike, algorithm: TensorLike, shape: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatefulStandardNormalV2 and return the Output."""
    def StatefulTruncatedNormal(self, resource: OutputLike, algorithm: TensorLike, shape: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatefulTruncatedNormal and return the Output."""
    def StatefulUniform(self, resource: OutputLike, algorithm: TensorLike, shape: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatefulUniform and return the Output."""
    def StatefulUniformFullInt(self, resource: OutputLike, algorithm: TensorLike, shape: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatefulUniformFullInt and return the Output."""
    def StatefulUniformInt(self, resource: OutputLike, algorithm: TensorLike, shape: TensorLike, minval: TensorLike, maxval: TensorLike, /, *, dtype: DTypeLike = ..., shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatefulUniformInt and return the Output."""
    def StatelessCase(self, branch_index: TensorLike, input: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], branches: Sequence[FuncRef | str], Tin: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """Add a node of type StatelessCase and return a tuple of Outputs."""
    def StatelessIf(self, cond: TensorLike, input: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], then_branch: FuncRef | str, else_branch: FuncRef | str, Tcond: DTypeLike | None = None, Tin: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., name: str | None = None) -> OutputsOrNode:
        """Add a node of type StatelessIf and return a tuple of Outputs."""
    def StatelessMultinomial(self, logits: TensorLike, num_samples: TensorLike, seed: TensorLike, /, *, T: DTypeLike | None = None, Tseed: DTypeLike = ..., output_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessMultinomial and return the Output."""
    def StatelessParameterizedTruncatedNormal(self, shape: TensorLike, seed: TensorLike, means: TensorLike, stddevs: TensorLike, minvals: TensorLike, maxvals: TensorLike, /, *, S: DTypeLike | None = None, Tseed: DTypeLike = ..., dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type StatelessParameterizedTruncatedNormal and return the Output."""
    def StatelessRandomBinomial(self, shape: TensorLike, seed: TensorLike, counts: TensorLike, probs: TensorLike, /, *, S: DTypeLike | None = None, Tseed: DTypeLike = ..., T: DTypeLike = ..., dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessRandomBinomial and return the Output."""
    def StatelessRandomGammaV2(self, shape: TensorLike, seed: TensorLike, alpha: TensorLike, /, *, dtype: DTypeLike | None = None, T: DTypeLike | None = None, Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessRandomGammaV2 and return the Output."""
    def StatelessRandomGammaV3(self, shape: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, alpha: TensorLike, /, *, dtype: DTypeLike | None = None, shape_dtype: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessRandomGammaV3 and return the Output."""
    def StatelessRandomGetAlg(self, *, name: str | None = None) -> Output:
        """Add a node of type StatelessRandomGetAlg and return the Output."""
    def StatelessRandomGetKeyCounter(self, seed: TensorLike, /, *, Tseed: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type StatelessRandomGetKeyCounter and return a tuple of Outputs."""
    def StatelessRandomGetKeyCounterAlg(self, seed: TensorLike, /, *, Tseed: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type StatelessRandomGetKeyCounterAlg and return a tuple of Outputs."""
    def StatelessRandomNormal(self, shape: TensorLike, seed: TensorLike, /, *, dtype: DTypeLike = ..., T: DTypeLike = ..., Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessRandomNormal and return the Output."""
    def StatelessRandomNormalV2(self, shape: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, /, *, dtype: DTypeLike = ..., Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessRandomNormalV2 and return the Output."""
    def StatelessRandomPoisson(self, shape: TensorLike, seed: TensorLike, lam: TensorLike, /, *, dtype: DTypeLike, Rtype: DTypeLike | None = None, T: DTypeLike | None = None, Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessRandomPoisson and return the Output."""
    def StatelessRandomUniform(self, shape: TensorLike, seed: TensorLike, /, *, dtype: DTypeLike = ..., T: DTypeLike = ..., Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessRandomUniform and return the Output."""
    def StatelessRandomUniformFullInt(self, shape: TensorLike, seed: TensorLike, /, *, dtype: DTypeLike = ..., T: DTypeLike = ..., Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessRandomUniformFullInt and return the Output."""
    def StatelessRandomUniformFullIntV2(self, shape: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, /, *, dtype: DTypeLike = ..., Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessRandomUniformFullIntV2 and return the Output."""
    def StatelessRandomUniformInt(self, shape: TensorLike, seed: TensorLike, minval: TensorLike, maxval: TensorLike, /, *, dtype: DTypeLike | None = None, T: DTypeLike | None = None, Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessRandomUniformInt and return the Output."""
    def StatelessRandomUniformIntV2(self, shape: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, minval: TensorLike, maxval: TensorLike, /, *, dtype: DTypeLike | None = None, Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessRandomUniformIntV2 and return the Output."""
    def StatelessRandomUniformV2(self, shape: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, /, *, dtype: DTypeLike = ..., Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessRandomUniformV2 and return the Output."""
    def StatelessSampleDistortedBoundingBox(self, image_size: TensorLike, bounding_boxes: TensorLike, min_object_covered: TensorLike, seed: TensorLike, /, *, T: DTypeLike | None = None, Tseed: DTypeLike | None = None, aspect_ratio_range: Sequence[float] = ..., area_range: Sequence[float] = ..., max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type StatelessSampleDistortedBoundingBox and return a tuple of Outputs."""
    def StatelessShuffle(self, value: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type StatelessShuffle and return the Output."""
    def StatelessTruncatedNormal(self, shape: TensorLike, seed: TensorLike, /, *, dtype: DTypeLike = ..., T: DTypeLike = ..., Tseed: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessTruncatedNormal and return the Output."""
    def StatelessTruncatedNormalV2(self, shape: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, /, *, dtype: DTypeLike = ..., Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StatelessTruncatedNormalV2 and return the Output."""
    def StatelessWhile(self, input: Sequence[TensorLike], /, *, cond: FuncRef | str, body: FuncRef | str, T: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., parallel_iterations: int = 10, name: str | None = None) -> OutputsOrNode:
        """Add a node of type StatelessWhile and return a tuple of Outputs."""
    def StaticRegexFullMatch(self, input: TensorLike, /, *, pattern: str | bytes, name: str | None = None) -> Output:
        """Add a node of type StaticRegexFullMatch and return the Output."""
    def StaticRegexReplace(self, input: TensorLike, /, *, pattern: str | bytes, rewrite: str | bytes, replace_global: bool = True, name: str | None = None) -> Output:
        """Add a node of type StaticRegexReplace and return the Output."""
    def StatsAggregatorHandle(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type StatsAggregatorHandle and return the Output."""
    def StatsAggregatorHandleV2(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type StatsAggregatorHandleV2 and return the Output."""
    def StatsAggregatorSetSummaryWriter(self, stats_aggregator: OutputLike, summary: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type StatsAggregatorSetSummaryWriter and return the Node."""
    def StatsAggregatorSummary(self, iterator: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type StatsAggregatorSummary and return the Output."""
    def StochasticCastToInt(self, input: TensorLike, key: TensorLike, counter: TensorLike, alg: TensorLike, /, *, Tout: DTypeLike, Tin: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type StochasticCastToInt and return the Output."""
    def StopGradient(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type StopGradient and return the Output."""
    def StoreMinibatchStatisticsInFdo(self, program_key: TensorLike, max_ids: TensorLike, max_uniques: TensorLike, /, *, sample_count: int, num_replica: int, feature_width: int, num_sc_per_chip: int, table_name: str | bytes, mini_batch_splits: str | bytes, name: str | None = None) -> Node:
        """Add a node of type StoreMinibatchStatisticsInFdo and return the Node."""
    def StridedSlice(self, input: TensorLike, begin: TensorLike, end: TensorLike, strides: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Output:
        """Add a node of type StridedSlice and return the Output."""
    def StridedSliceAssign(self, ref: OutputLike, begin: TensorLike, end: TensorLike, strides: TensorLike, value: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Output:
        """Add a node of type StridedSliceAssign and return the Output."""
    def StridedSliceGrad(self, shape: TensorLike, begin: TensorLike, end: TensorLike, strides: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Output:
        """Add a node of type StridedSliceGrad and return the Output."""
    def StringFormat(self, inputs: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, template: str | bytes = '%s', placeholder: str | bytes = '%s', summarize: int = 3, name: str | None = None) -> Output:
        """Add a node of type StringFormat and return the Output."""
    def StringJoin(self, inputs: Sequence[TensorLike], /, *, N: int | None = None, separator: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type StringJoin and return the Output."""
    def StringLength(self, input: TensorLike, /, *, unit: Literal['BYTE', 'UTF8_CHAR'] | bytes = 'BYTE', name: str | None = None) -> Output:
        """Add a node of type StringLength and return the Output."""
    def StringListAttr(self, *, a: Sequence[str | bytes], b: str | bytes, name: str | None = None) -> Node:
        """Add a node of type StringListAttr and return the Node."""
    def StringLower(self, input: TensorLike, /, *, encoding: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type StringLower and return the Output."""
    def StringNGrams(self, data: TensorLike, data_splits: TensorLike, /, *, separator: str | bytes, ngram_widths: Sequence[int], left_pad: str | bytes, right_pad: str | bytes, pad_width: int, preserve_short_sequences: bool, Tsplits: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type StringNGrams and return a tuple of Outputs."""
    def StringSplit(self, input: TensorLike, delimiter: TensorLike, /, *, skip_empty: bool = True, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type StringSplit and return a tuple of Outputs."""
    def StringSplitV2(self, input: TensorLike, sep: TensorLike, /, *, maxsplit: int = -1, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type StringSplitV2 and return a tuple of Outputs."""
    def StringStrip(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type StringStrip and return the Output."""
    def StringToHashBucket(self, string_tensor: TensorLike, /, *, num_buckets: int, name: str | None = None) -> Output:
        """Add a node of type StringToHashBucket and return the Output."""
    def StringToHashBucketFast(self, input: TensorLike, /, *, num_buckets: int, name: str | None = None) -> Output:
        """Add a node of type StringToHashBucketFast and return the Output."""
    def StringToHashBucketStrong(self, input: TensorLike, /, *, num_buckets: int, key: Sequence[int], name: str | None = None) -> Output:
        """Add a node of type StringToHashBucketStrong and return the Output."""
    def StringToNumber(self, string_tensor: TensorLike, /, *, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type StringToNumber and return the Output."""
    def StringUpper(self, input: TensorLike, /, *, encoding: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type StringUpper and return the Output."""
    def StubResourceHandleOp(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type StubResourceHandleOp and return the Output."""
    def Sub(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Sub and return the Output."""
    def Substr(self, input: TensorLike, pos: TensorLike, len: TensorLike, /, *, T: DTypeLike | None = None, unit: Literal['BYTE', 'UTF8_CHAR'] | bytes = 'BYTE', name: str | None = None) -> Output:
        """Add a node of type Substr and return the Output."""
    def Sum(self, input: TensorLike, reduction_indices: TensorLike, /, *, keep_dims: bool = False, T: DTypeLike | None = None, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Sum and return the Output."""
    def SummaryWriter(self, *, shared_name: str | bytes = '', container: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type SummaryWriter and return the Output."""
    def Svd(self, input: TensorLike, /, *, compute_uv: bool = True, full_matrices: bool = False, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type Svd and return a tuple of Outputs."""
    def Switch(self, data: TensorLike, pred: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type Switch and return a tuple of Outputs."""
    def SymbolicGradient(self, input: Sequence[TensorLike], /, *, Tout: Sequence[DTypeLike], f: FuncRef | str, Tin: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type SymbolicGradient and return a tuple of Outputs."""
    def SyncDevice(self, *, name: str | None = None) -> Node:
        """Add a node of type SyncDevice and return the Node."""
    def TFRecordDataset(self, filenames: TensorLike, compression_type: TensorLike, buffer_size: TensorLike, /, *, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TFRecordDataset and return the Output."""
    def TFRecordDatasetV2(self, filenames: TensorLike, compression_type: TensorLike, buffer_size: TensorLike, byte_offsets: TensorLike, /, *, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TFRecordDatasetV2 and return the Output."""
    def TFRecordReader(self, *, container: str | bytes = '', shared_name: str | bytes = '', compression_type: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TFRecordReader and return the Output."""
    def TFRecordReaderV2(self, *, container: str | bytes = '', shared_name: str | bytes = '', compression_type: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TFRecordReaderV2 and return the Output."""
    def TPUAnnotateTensorsWithDynamicShape(self, tensors: Sequence[TensorLike], /, *, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type TPUAnnotateTensorsWithDynamicShape and return a tuple of Outputs."""
    def TPUCompilationResult(self, *, name: str | None = None) -> Output:
        """Add a node of type TPUCompilationResult and return the Output."""
    def TPUCompile(self, dynamic_shapes: Sequence[TensorLike], guaranteed_constants: Sequence[TensorLike], /, *, num_computations: int, function: FuncRef | str, metadata: str | bytes, NumDynamicShapes: int | None = None, Tguaranteed_constants: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type TPUCompile and return a tuple of Outputs."""
    def TPUCompileSucceededAssert(self, compilation_status: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type TPUCompileSucceededAssert and return the Node."""
    def TPUCopyWithDynamicShape(self, tensors: Sequence[TensorLike], unpadded_sizes: Sequence[TensorLike], /, *, N: int | None = None, T: Sequence[DTypeLike] | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type TPUCopyWithDynamicShape and return a tuple of Outputs."""
    def TPUDummyInput(self, *, dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Output:
        """Add a node of type TPUDummyInput and return the Output."""
    def TPUEmbeddingActivations(self, embedding_variable: TensorLike, sliced_activations: TensorLike, /, *, table_id: int, lookup_id: int, name: str | None = None) -> Output:
        """Add a node of type TPUEmbeddingActivations and return the Output."""
    def TPUExecute(self, args: Sequence[TensorLike], key: TensorLike, /, *, Tresults: Sequence[DTypeLike], Targs: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type TPUExecute and return a tuple of Outputs."""
    def TPUExecuteAndUpdateVariables(self, args: Sequence[TensorLike], key: TensorLike, /, *, Tresults: Sequence[DTypeLike], device_var_reads_indices: Sequence[int], device_var_updates_indices: Sequence[int], Targs: Sequence[DTypeLike] | None = None, name: str | None = None) -> OutputsOrNode:
        """Add a node of type TPUExecuteAndUpdateVariables and return a tuple of Outputs."""
    def TPUOrdinalSelector(self, *, name: str | None = None) -> Output:
        """Add a node of type TPUOrdinalSelector and return the Output."""
    def TPUPartitionedCall(self, args: Sequence[TensorLike], device_ordinal: TensorLike, /, *, Tout: Sequence[DTypeLike], f: FuncRef | str, Tin: Sequence[DTypeLike] | None = None, autotuner_thresh: int = 0, name: str | None = None) -> OutputsOrNode:
        """Add a node of type TPUPartitionedCall and return a tuple of Outputs."""
    def TPUPartitionedInput(self, inputs: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, partition_dim: int = 0, name: str | None = None) -> Output:
        """Add a node of type TPUPartitionedInput and return the Output."""
    def TPUPartitionedInputV2(self, inputs: Sequence[TensorLike], /, *, partition_dims: Sequence[int], N: int | None = None, T: DTypeLike | None = None, is_packed: bool = False, name: str | None = None) -> Output:
        """Add a node of type TPUPartitionedInputV2 and return the Output."""
    def TPUPartitionedOutput(self, inputs: TensorLike, /, *, num_splits: int, T: DTypeLike | None = None, partition_dim: int = 0, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type TPUPartitionedOutput and return a tuple of Outputs."""
    def TPUPartitionedOutputV2(self, inputs: TensorLike, /, *, num_splits: int, partition_dims: Sequence[int], T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type TPUPartitionedOutputV2 and return a tuple of Outputs."""
    def TPUReplicateMetadata(self, *, num_replicas: int, num_cores_per_replica: int = 1, topology: str | bytes = '', use_tpu: bool = True, device_assignment: Sequence[int] = ..., computation_shape: Sequence[int] = ..., host_compute_core: Sequence[str | bytes] = ..., padding_map: Sequence[str | bytes] = ..., step_marker_location: str | bytes = 'STEP_MARK_AT_ENTRY', allow_soft_placement: bool = False, use_spmd_for_xla_partitioning: bool = False, use_shardy_partitioner: bool = False, tpu_compile_options_proto: str | bytes = '', name: str | None = None) -> Node:
        """Add a node of type TPUReplicateMetadata and return the Node."""
    def TPUReplicatedInput(self, inputs: Sequence[TensorLike], /, *, N: int | None = None, T: DTypeLike | None = None, is_mirrored_variable: bool = False, index: int = -1, is_packed: bool = False, name: str | None = None) -> Output:
        """Add a node of type TPUReplicatedInput and return the Output."""
    def TPUReplicatedOutput(self, input: TensorLike, /, *, num_replicas: int, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type TPUReplicatedOutput and return a tuple of Outputs."""
    def TPUReshardVariables(self, vars: Sequence[OutputLike], new_format_key: TensorLike, format_state_var: OutputLike, /, *, N: int | None = None, name: str | None = None) -> Node:
        """Add a node of type TPUReshardVariables and return the Node."""
    def TPURoundRobin(self, *, name: str | None = None) -> Output:
        """Add a node of type TPURoundRobin and return the Output."""
    def TakeDataset(self, input_dataset: OutputLike, count: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TakeDataset and return the Output."""
    def TakeManySparseFromTensorsMap(self, sparse_handles: TensorLike, /, *, dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type TakeManySparseFromTensorsMap and return a tuple of Outputs."""
    def TakeWhileDataset(self, input_dataset: OutputLike, other_arguments: Sequence[TensorLike], /, *, predicate: FuncRef | str, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Targuments: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TakeWhileDataset and return the Output."""
    def Tan(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Tan and return the Output."""
    def Tanh(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Tanh and return the Output."""
    def TanhGrad(self, y: TensorLike, dy: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TanhGrad and return the Output."""
    def TemporaryVariable(self, *, shape: ShapeLike, dtype: DTypeLike, var_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TemporaryVariable and return the Output."""
    def TensorArray(self, size: TensorLike, /, *, dtype: DTypeLike, dynamic_size: bool = False, clear_after_read: bool = True, tensor_array_name: str | bytes = '', element_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Add a node of type TensorArray and return the Output."""
    def TensorArrayClose(self, handle: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type TensorArrayClose and return the Node."""
    def TensorArrayCloseV2(self, handle: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type TensorArrayCloseV2 and return the Node."""
    def TensorArrayCloseV3(self, handle: OutputLike, /, *, name: str | None = None) -> Node:
        """Add a node of type TensorArrayCloseV3 and return the Node."""
    def TensorArrayConcat(self, handle: OutputLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape_except0: ShapeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TensorArrayConcat and return a tuple of Outputs."""
    def TensorArrayConcatV2(self, handle: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape_except0: ShapeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TensorArrayConcatV2 and return a tuple of Outputs."""
    def TensorArrayConcatV3(self, handle: OutputLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape_except0: ShapeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TensorArrayConcatV3 and return a tuple of Outputs."""
    def TensorArrayGather(self, handle: OutputLike, indices: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Add a node of type TensorArrayGather and return the Output."""
    def TensorArrayGatherV2(self, handle: TensorLike, indices: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Add a node of type TensorArrayGatherV2 and return the Output."""
    def TensorArrayGatherV3(self, handle: OutputLike, indices: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Add a node of type TensorArrayGatherV3 and return the Output."""
    def TensorArrayGrad(self, handle: TensorLike, flow_in: TensorLike, /, *, source: str | bytes, name: str | None = None) -> Output:
        """Add a node of type TensorArrayGrad and return the Output."""
    def TensorArrayGradV2(self, handle: TensorLike, flow_in: TensorLike, /, *, source: str | bytes, name: str | None = None) -> Output:
        """Add a node of type TensorArrayGradV2 and return the Output."""
    def TensorArrayGradV3(self, handle: OutputLike, flow_in: TensorLike, /, *, source: str | bytes, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TensorArrayGradV3 and return a tuple of Outputs."""
    def TensorArrayGradWithShape(self, handle: OutputLike, flow_in: TensorLike, shape_to_prepend: TensorLike, /, *, source: str | bytes, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TensorArrayGradWithShape and return a tuple of Outputs."""
    def TensorArrayPack(self, handle: OutputLike, flow_in: TensorLike, /, *, dtype: DTypeLike, element_shape: ShapeLike = ..., name: str | None = None) -> Output:
        """Add a node of type TensorArrayPack and return the Output."""
    def TensorArrayRead(self, handle: OutputLike, index: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type TensorArrayRead and return the Output."""
    def TensorArrayReadV2(self, handle: TensorLike, index: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type TensorArrayReadV2 and return the Output."""
    def TensorArrayReadV3(self, handle: OutputLike, index: TensorLike, flow_in: TensorLike, /, *, dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type TensorArrayReadV3 and return the Output."""
    def TensorArrayScatter(self, handle: OutputLike, indices: TensorLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArrayScatter and return the Output."""
    def TensorArrayScatterV2(self, handle: TensorLike, indices: TensorLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArrayScatterV2 and return the Output."""
    def TensorArrayScatterV3(self, handle: OutputLike, indices: TensorLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArrayScatterV3 and return the Output."""
    def TensorArraySize(self, handle: OutputLike, flow_in: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type TensorArraySize and return the Output."""
    def TensorArraySizeV2(self, handle: TensorLike, flow_in: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type TensorArraySizeV2 and return the Output."""
    def TensorArraySizeV3(self, handle: OutputLike, flow_in: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type TensorArraySizeV3 and return the Output."""
    def TensorArraySplit(self, handle: OutputLike, value: TensorLike, lengths: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArraySplit and return the Output."""
    def TensorArraySplitV2(self, handle: TensorLike, value: TensorLike, lengths: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArraySplitV2 and return the Output."""
    def TensorArraySplitV3(self, handle: OutputLike, value: TensorLike, lengths: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArraySplitV3 and return the Output."""
    def TensorArrayUnpack(self, handle: OutputLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArrayUnpack and return the Output."""
    def TensorArrayV2(self, size: TensorLike, /, *, dtype: DTypeLike, element_shape: ShapeLike = ..., dynamic_size: bool = False, clear_after_read: bool = True, tensor_array_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TensorArrayV2 and return the Output."""
    def TensorArrayV3(self, size: TensorLike, /, *, dtype: DTypeLike, element_shape: ShapeLike = ..., dynamic_size: bool = False, clear_after_read: bool = True, identical_element_shapes: bool = False, tensor_array_name: str | bytes = '', name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TensorArrayV3 and return a tuple of Outputs."""
    def TensorArrayWrite(self, handle: OutputLike, index: TensorLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArrayWrite and return the Output."""
    def TensorArrayWriteV2(self, handle: TensorLike, index: TensorLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArrayWriteV2 and return the Output."""
    def TensorArrayWriteV3(self, handle: OutputLike, index: TensorLike, value: TensorLike, flow_in: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorArrayWriteV3 and return the Output."""
    def TensorDataset(self, components: Sequence[TensorLike], /, *, output_shapes: Sequence[ShapeLike], Toutput_types: Sequence[DTypeLike] | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TensorDataset and return the Output."""
    def TensorListConcat(self, input_handle: OutputLike, /, *, element_dtype: DTypeLike, element_shape: ShapeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TensorListConcat and return a tuple of Outputs."""
    def TensorListConcatLists(self, input_a: OutputLike, input_b: OutputLike, /, *, element_dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type TensorListConcatLists and return the Output."""
    def TensorListConcatV2(self, input_handle: OutputLike, element_shape: TensorLike, leading_dims: TensorLike, /, *, element_dtype: DTypeLike, shape_type: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TensorListConcatV2 and return a tuple of Outputs."""
    def TensorListElementShape(self, input_handle: OutputLike, /, *, shape_type: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type TensorListElementShape and return the Output."""
    def TensorListFromTensor(self, tensor: TensorLike, element_shape: TensorLike, /, *, element_dtype: DTypeLike | None = None, shape_type: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorListFromTensor and return the Output."""
    def TensorListGather(self, input_handle: OutputLike, indices: TensorLike, element_shape: TensorLike, /, *, element_dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type TensorListGather and return the Output."""
    def TensorListGetItem(self, input_handle: OutputLike, index: TensorLike, element_shape: TensorLike, /, *, element_dtype: DTypeLike, Tshape: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type TensorListGetItem and return the Output."""
    def TensorListLength(self, input_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type TensorListLength and return the Output."""
    def TensorListPopBack(self, input_handle: OutputLike, element_shape: TensorLike, /, *, element_dtype: DTypeLike, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TensorListPopBack and return a tuple of Outputs."""
    def TensorListPushBack(self, input_handle: OutputLike, tensor: TensorLike, /, *, element_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorListPushBack and return the Output."""
    def TensorListPushBackBatch(self, input_handles: OutputLike, tensor: TensorLike, /, *, element_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorListPushBackBatch and return the Output."""
    def TensorListReserve(self, element_shape: TensorLike, num_elements: TensorLike, /, *, element_dtype: DTypeLike, shape_type: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorListReserve and return the Output."""
    def TensorListResize(self, input_handle: OutputLike, size: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type TensorListResize and return the Output."""
    def TensorListScatter(self, tensor: TensorLike, indices: TensorLike, element_shape: TensorLike, /, *, element_dtype: DTypeLike | None = None, shape_type: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorListScatter and return the Output."""
    def TensorListScatterIntoExistingList(self, input_handle: OutputLike, tensor: TensorLike, indices: TensorLike, /, *, element_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorListScatterIntoExistingList and return the Output."""
    def TensorListScatterV2(self, tensor: TensorLike, indices: TensorLike, element_shape: TensorLike, num_elements: TensorLike, /, *, element_dtype: DTypeLike | None = None, shape_type: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorListScatterV2 and return the Output."""
    def TensorListSetItem(self, input_handle: OutputLike, index: TensorLike, item: TensorLike, /, *, element_dtype: DTypeLike | None = None, resize_if_index_out_of_bounds: bool = False, name: str | None = None) -> Output:
        """Add a node of type TensorListSetItem and return the Output."""
    def TensorListSplit(self, tensor: TensorLike, element_shape: TensorLike, lengths: TensorLike, /, *, element_dtype: DTypeLike | None = None, shape_type: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorListSplit and return the Output."""
    def TensorListStack(self, input_handle: OutputLike, element_shape: TensorLike, /, *, element_dtype: DTypeLike, num_elements: int = -1, name: str | None = None) -> Output:
        """Add a node of type TensorListStack and return the Output."""
    def TensorMapErase(self, input_handle: OutputLike, key: TensorLike, /, *, value_dtype: DTypeLike, key_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorMapErase and return the Output."""
    def TensorMapHasKey(self, input_handle: OutputLike, key: TensorLike, /, *, key_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorMapHasKey and return the Output."""
    def TensorMapInsert(self, input_handle: OutputLike, key: TensorLike, value: TensorLike, /, *, key_dtype: DTypeLike | None = None, value_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorMapInsert and return the Output."""
    def TensorMapLookup(self, input_handle: OutputLike, key: TensorLike, /, *, value_dtype: DTypeLike, key_dtype: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorMapLookup and return the Output."""
    def TensorMapSize(self, input_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type TensorMapSize and return the Output."""
    def TensorMapStackKeys(self, input_handle: OutputLike, /, *, key_dtype: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type TensorMapStackKeys and return the Output."""
    def TensorScatterAdd(self, tensor: TensorLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TensorScatterAdd and return the Output."""
    def TensorScatterMax(self, tensor: TensorLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TensorScatterMax and return the Output."""
    def TensorScatterMin(self, tensor: TensorLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TensorScatterMin and return the Output."""
    def TensorScatterSub(self, tensor: TensorLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TensorScatterSub and return the Output."""
    def TensorScatterUpdate(self, tensor: TensorLike, indices: TensorLike, updates: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, bad_indices_policy: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TensorScatterUpdate and return the Output."""
    def TensorSliceDataset(self, components: Sequence[TensorLike], /, *, output_shapes: Sequence[ShapeLike], Toutput_types: Sequence[DTypeLike] | None = None, is_files: bool = False, metadata: str | bytes = '', replicate_on_split: bool = False, name: str | None = None) -> Output:
        """Add a node of type TensorSliceDataset and return the Output."""
    def TensorStridedSliceUpdate(self, input: TensorLike, begin: TensorLike, end: TensorLike, strides: TensorLike, value: TensorLike, /, *, T: DTypeLike | None = None, Index: DTypeLike | None = None, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Output:
        """Add a node of type TensorStridedSliceUpdate and return the Output."""
    def TensorSummary(self, tensor: TensorLike, /, *, T: DTypeLike | None = None, description: str | bytes = '', labels: Sequence[str | bytes] = ..., display_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TensorSummary and return the Output."""
    def TensorSummaryV2(self, tag: TensorLike, tensor: TensorLike, serialized_summary_metadata: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TensorSummaryV2 and return the Output."""
    def TestAttr(self, *, T: DTypeLike, name: str | None = None) -> Output:
        """Add a node of type TestAttr and return the Output."""
    def TestStringOutput(self, input: TensorLike, /, *, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TestStringOutput and return a tuple of Outputs."""
    def TextLineDataset(self, filenames: TensorLike, compression_type: TensorLike, buffer_size: TensorLike, /, *, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TextLineDataset and return the Output."""
    def TextLineReader(self, *, skip_header_lines: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TextLineReader and return the Output."""
    def TextLineReaderV2(self, *, skip_header_lines: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type TextLineReaderV2 and return the Output."""
    def ThreadPoolDataset(self, input_dataset: OutputLike, thread_pool: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> Output:
        """Add a node of type ThreadPoolDataset and return the Output."""
    def ThreadPoolHandle(self, *, num_threads: int, display_name: str | bytes, max_intra_op_parallelism: int = 1, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ThreadPoolHandle and return the Output."""
    def ThreadUnsafeUnigramCandidateSampler(self, true_classes: TensorLike, /, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type ThreadUnsafeUnigramCandidateSampler and return a tuple of Outputs."""
    def Tile(self, input: TensorLike, multiples: TensorLike, /, *, T: DTypeLike | None = None, Tmultiples: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Tile and return the Output."""
    def TileGrad(self, input: TensorLike, multiples: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TileGrad and return the Output."""
    def Timestamp(self, *, name: str | None = None) -> Output:
        """Add a node of type Timestamp and return the Output."""
    def ToBool(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ToBool and return the Output."""
    def TopK(self, input: TensorLike, /, *, k: int, sorted: bool = True, T: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TopK and return a tuple of Outputs."""
    def TopKUnique(self, input: TensorLike, /, *, k: int, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TopKUnique and return a tuple of Outputs."""
    def TopKV2(self, input: TensorLike, k: TensorLike, /, *, sorted: bool = True, T: DTypeLike | None = None, Tk: DTypeLike = ..., index_type: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TopKV2 and return a tuple of Outputs."""
    def TopKWithUnique(self, input: TensorLike, /, *, k: int, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type TopKWithUnique and return a tuple of Outputs."""
    def TpuHandleToProtoKey(self, uid: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type TpuHandleToProtoKey and return the Output."""
    def Transpose(self, x: TensorLike, perm: TensorLike, /, *, T: DTypeLike | None = None, Tperm: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Transpose and return the Output."""
    def TridiagonalMatMul(self, superdiag: TensorLike, maindiag: TensorLike, subdiag: TensorLike, rhs: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TridiagonalMatMul and return the Output."""
    def TridiagonalSolve(self, diagonals: TensorLike, rhs: TensorLike, /, *, partial_pivoting: bool = True, perturb_singular: bool = False, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TridiagonalSolve and return the Output."""
    def TruncateDiv(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TruncateDiv and return the Output."""
    def TruncateMod(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TruncateMod and return the Output."""
    def TruncatedNormal(self, shape: TensorLike, /, *, dtype: DTypeLike, seed: int = 0, seed2: int = 0, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type TruncatedNormal and return the Output."""
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
        """Add a node of type Unbatch and return the Output."""
    def UnbatchDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type UnbatchDataset and return the Output."""
    def UnbatchGrad(self, original_input: TensorLike, batch_index: TensorLike, grad: TensorLike, id: TensorLike, /, *, container: str | bytes = '', shared_name: str | bytes = '', T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type UnbatchGrad and return the Output."""
    def UncompressElement(self, compressed: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type UncompressElement and return a tuple of Outputs."""
    def UnicodeDecode(self, input: TensorLike, /, *, input_encoding: str | bytes, errors: Literal['strict', 'replace', 'ignore'] | bytes = 'replace', replacement_char: int = 65533, replace_control_characters: bool = False, Tsplits: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type UnicodeDecode and return a tuple of Outputs."""
    def UnicodeDecodeWithOffsets(self, input: TensorLike, /, *, input_encoding: str | bytes, errors: Literal['strict', 'replace', 'ignore'] | bytes = 'replace', replacement_char: int = 65533, replace_control_characters: bool = False, Tsplits: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type UnicodeDecodeWithOffsets and return a tuple of Outputs."""
    def UnicodeEncode(self, input_values: TensorLike, input_splits: TensorLike, /, *, output_encoding: Literal['UTF-8', 'UTF-16-BE', 'UTF-32-BE'] | bytes, errors: Literal['ignore', 'replace', 'strict'] | bytes = 'replace', replacement_char: int = 65533, Tsplits: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type UnicodeEncode and return the Output."""
    def UnicodeScript(self, input: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type UnicodeScript and return the Output."""
    def UnicodeTranscode(self, input: TensorLike, /, *, input_encoding: str | bytes, output_encoding: Literal['UTF-8', 'UTF-16-BE', 'UTF-32-BE'] | bytes, errors: Literal['strict', 'replace', 'ignore'] | bytes = 'replace', replacement_char: int = 65533, replace_control_characters: bool = False, name: str | None = None) -> Output:
        """Add a node of type UnicodeTranscode and return the Output."""
    def UniformCandidateSampler(self, true_classes: TensorLike, /, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type UniformCandidateSampler and return a tuple of Outputs."""
    def UniformDequantize(self, input: TensorLike, scales: TensorLike, zero_points: TensorLike, /, *, Tout: DTypeLike, quantization_min_val: int, quantization_max_val: int, Tin: DTypeLike | None = None, quantization_axis: int = -1, name: str | None = None) -> Output:
        """Add a node of type UniformDequantize and return the Output."""
    def UniformQuantize(self, input: TensorLike, scales: TensorLike, zero_points: TensorLike, /, *, Tout: DTypeLike, quantization_min_val: int, quantization_max_val: int, Tin: DTypeLike | None = None, quantization_axis: int = -1, name: str | None = None) -> Output:
        """Add a node of type UniformQuantize and return the Output."""
    def UniformQuantizedAdd(self, lhs: TensorLike, rhs: TensorLike, lhs_scales: TensorLike, lhs_zero_points: TensorLike, rhs_scales: TensorLike, rhs_zero_points: TensorLike, output_scales: TensorLike, output_zero_points: TensorLike, /, *, lhs_quantization_min_val: int, lhs_quantization_max_val: int, rhs_quantization_min_val: int, rhs_quantization_max_val: int, output_quantization_min_val: int, output_quantization_max_val: int, lhs_quantization_axis: int = -1, rhs_quantization_axis: int = -1, output_quantization_axis: int = -1, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type UniformQuantizedAdd and return the Output."""
    def UniformQuantizedClipByValue(self, operand: TensorLike, min: TensorLike, max: TensorLike, scales: TensorLike, zero_points: TensorLike, /, *, quantization_min_val: int, quantization_max_val: int, T: DTypeLike | None = None, quantization_axis: int = -1, name: str | None = None) -> Output:
        """Add a node of type UniformQuantizedClipByValue and return the Output."""
    def UniformQuantizedConvolution(self, lhs: TensorLike, rhs: TensorLike, lhs_scales: TensorLike, lhs_zero_points: TensorLike, rhs_scales: TensorLike, rhs_zero_points: TensorLike, output_scales: TensorLike, output_zero_points: TensorLike, /, *, Tout: DTypeLike, padding: str | bytes, lhs_quantization_min_val: int, lhs_quantization_max_val: int, rhs_quantization_min_val: int, rhs_quantization_max_val: int, output_quantization_min_val: int, output_quantization_max_val: int, Tin: DTypeLike | None = None, window_strides: Sequence[int] = ..., explicit_padding: Sequence[int] = ..., lhs_dilation: Sequence[int] = ..., rhs_dilation: Sequence[int] = ..., batch_group_count: int = 1, feature_group_count: int = 1, dimension_numbers: str | bytes = '', lhs_quantization_axis: int = -1, rhs_quantization_axis: int = -1, output_quantization_axis: int = -1, name: str | None = None) -> Output:
        """Add a node of type UniformQuantizedConvolution and return the Output."""
    def UniformQuantizedConvolutionHybrid(self, lhs: TensorLike, rhs: TensorLike, rhs_scales: TensorLike, rhs_zero_points: TensorLike, /, *, Tout: DTypeLike, padding: str | bytes, rhs_quantization_min_val: int, rhs_quantization_max_val: int, Tlhs: DTypeLike | None = None, Trhs: DTypeLike | None = None, window_strides: Sequence[int] = ..., explicit_padding: Sequence[int] = ..., lhs_dilation: Sequence[int] = ..., rhs_dilation: Sequence[int] = ..., batch_group_count: int = 1, feature_group_count: int = 1, dimension_numbers: str | bytes = '', rhs_quantization_axis: int = -1, name: str | None = None) -> Output:
        """Add a node of type UniformQuantizedConvolutionHybrid and return the Output."""
    def UniformQuantizedDot(self, lhs: TensorLike, rhs: TensorLike, lhs_scales: TensorLike, lhs_zero_points: TensorLike, rhs_scales: TensorLike, rhs_zero_points: TensorLike, output_scales: TensorLike, output_zero_points: TensorLike, /, *, Tout: DTypeLike, lhs_quantization_min_val: int, lhs_quantization_max_val: int, rhs_quantization_min_val: int, rhs_quantization_max_val: int, output_quantization_min_val: int, output_quantization_max_val: int, Tin: DTypeLike | None = None, lhs_quantization_axis: int = -1, rhs_quantization_axis: int = -1, output_quantization_axis: int = -1, name: str | None = None) -> Output:
        """Add a node of type UniformQuantizedDot and return the Output."""
    def UniformQuantizedDotHybrid(self, lhs: TensorLike, rhs: TensorLike, rhs_scales: TensorLike, rhs_zero_points: TensorLike, /, *, Tout: DTypeLike, rhs_quantization_min_val: int, rhs_quantization_max_val: int, Tlhs: DTypeLike | None = None, Trhs: DTypeLike | None = None, rhs_quantization_axis: int = -1, name: str | None = None) -> Output:
        """Add a node of type UniformQuantizedDotHybrid and return the Output."""
    def UniformRequantize(self, input: TensorLike, input_scales: TensorLike, input_zero_points: TensorLike, output_scales: TensorLike, output_zero_points: TensorLike, /, *, Tout: DTypeLike, input_quantization_min_val: int, input_quantization_max_val: int, output_quantization_min_val: int, output_quantization_max_val: int, Tin: DTypeLike | None = None, input_quantization_axis: int = -1, output_quantization_axis: int = -1, name: str | None = None) -> Output:
        """Add a node of type UniformRequantize and return the Output."""
    def Unique(self, x: TensorLike, /, *, T: DTypeLike | None = None, out_idx: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type Unique and return a tuple of Outputs."""
    def UniqueDataset(self, input_dataset: OutputLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type UniqueDataset and return the Output."""
    def UniqueV2(self, x: TensorLike, axis: TensorLike, /, *, T: DTypeLike | None = None, Taxis: DTypeLike = ..., out_idx: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type UniqueV2 and return a tuple of Outputs."""
    def UniqueWithCounts(self, x: TensorLike, /, *, T: DTypeLike | None = None, out_idx: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type UniqueWithCounts and return a tuple of Outputs."""
    def UniqueWithCountsV2(self, x: TensorLike, axis: TensorLike, /, *, T: DTypeLike | None = None, Taxis: DTypeLike = ..., out_idx: DTypeLike = ..., name: str | None = None) -> tuple[Output, Output, Output]:
        """Add a node of type UniqueWithCountsV2 and return a tuple of Outputs."""
    def Unpack(self, value: TensorLike, /, *, num: int, T: DTypeLike | None = None, axis: int = 0, name: str | None = None) -> OutputsOrNode:
        """Add a node of type Unpack and return a tuple of Outputs."""
    def UnravelIndex(self, indices: TensorLike, dims: TensorLike, /, *, Tidx: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type UnravelIndex and return the Output."""
    def UnsortedSegmentJoin(self, inputs: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, separator: str | bytes = '', Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type UnsortedSegmentJoin and return the Output."""
    def UnsortedSegmentMax(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type UnsortedSegmentMax and return the Output."""
    def UnsortedSegmentMin(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type UnsortedSegmentMin and return the Output."""
    def UnsortedSegmentProd(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type UnsortedSegmentProd and return the Output."""
    def UnsortedSegmentSum(self, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, Tnumsegments: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type UnsortedSegmentSum and return the Output."""
    def Unstage(self, *, dtypes: Sequence[DTypeLike], capacity: int = 0, memory_limit: int = 0, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> tuple[Output, ...]:
        """Add a node of type Unstage and return a tuple of Outputs."""
    def UnwrapDatasetVariant(self, input_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type UnwrapDatasetVariant and return the Output."""
    def UpdateTaskIdAndGlobalCoreArray(self, tpu_task_id_to_shard_id: Sequence[TensorLike], /, *, task_count: int | None = None, name: str | None = None) -> Node:
        """Add a node of type UpdateTaskIdAndGlobalCoreArray and return the Node."""
    def UpperBound(self, sorted_inputs: TensorLike, values: TensorLike, /, *, T: DTypeLike | None = None, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type UpperBound and return the Output."""
    def VarHandleOp(self, *, dtype: DTypeLike, shape: ShapeLike, container: str | bytes = '', shared_name: str | bytes = '', debug_name: str | bytes = '', allowed_devices: Sequence[str | bytes] = ..., name: str | None = None) -> Output:
        """Add a node of type VarHandleOp and return the Output."""
    def VarIsInitializedOp(self, resource: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type VarIsInitializedOp and return the Output."""
    def Variable(self, *, shape: ShapeLike, dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type Variable and return the Output."""
    def VariableShape(self, input: OutputLike, /, *, out_type: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type VariableShape and return the Output."""
    def VariableV2(self, *, shape: ShapeLike, dtype: DTypeLike, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type VariableV2 and return the Output."""
    def WeightedFlatMapDataset(self, input_datasets: Sequence[OutputLike], weights: Sequence[TensorLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, M: int | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type WeightedFlatMapDataset and return the Output."""
    def Where(self, input: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Output:
        """Add a node of type Where and return the Output."""
    def While(self, input: Sequence[TensorLike], /, *, cond: FuncRef | str, body: FuncRef | str, T: Sequence[DTypeLike] | None = None, output_shapes: Sequence[ShapeLike] = ..., parallel_iterations: int = 10, name: str | None = None) -> OutputsOrNode:
        """Add a node of type While and return a tuple of Outputs."""
    def WholeFileReader(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type WholeFileReader and return the Output."""
    def WholeFileReaderV2(self, *, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type WholeFileReaderV2 and return the Output."""
    def WindowDataset(self, input_dataset: OutputLike, size: TensorLike, shift: TensorLike, stride: TensorLike, drop_remainder: TensorLike, /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type WindowDataset and return the Output."""
    def WindowOp(self, inputs: Sequence[TensorLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], Tinputs: Sequence[DTypeLike] | None = None, name: str | None = None) -> Output:
        """Add a node of type WindowOp and return the Output."""
    def WorkerHeartbeat(self, request: TensorLike, /, *, name: str | None = None) -> Output:
        """Add a node of type WorkerHeartbeat and return the Output."""
    def WrapDatasetVariant(self, input_handle: OutputLike, /, *, name: str | None = None) -> Output:
        """Add a node of type WrapDatasetVariant and return the Output."""
    def WriteAudioSummary(self, writer: OutputLike, step: TensorLike, tag: TensorLike, tensor: TensorLike, sample_rate: TensorLike, /, *, max_outputs: int = 3, name: str | None = None) -> Node:
        """Add a node of type WriteAudioSummary and return the Node."""
    def WriteFile(self, filename: TensorLike, contents: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type WriteFile and return the Node."""
    def WriteGraphSummary(self, writer: OutputLike, step: TensorLike, tensor: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type WriteGraphSummary and return the Node."""
    def WriteHistogramSummary(self, writer: OutputLike, step: TensorLike, tag: TensorLike, values: TensorLike, /, *, T: DTypeLike = ..., name: str | None = None) -> Node:
        """Add a node of type WriteHistogramSummary and return the Node."""
    def WriteImageSummary(self, writer: OutputLike, step: TensorLike, tag: TensorLike, tensor: TensorLike, bad_color: TensorLike, /, *, max_images: int = 3, T: DTypeLike = ..., name: str | None = None) -> Node:
        """Add a node of type WriteImageSummary and return the Node."""
    def WriteRawProtoSummary(self, writer: OutputLike, step: TensorLike, tensor: TensorLike, /, *, name: str | None = None) -> Node:
        """Add a node of type WriteRawProtoSummary and return the Node."""
    def WriteScalarSummary(self, writer: OutputLike, step: TensorLike, tag: TensorLike, value: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type WriteScalarSummary and return the Node."""
    def WriteSummary(self, writer: OutputLike, step: TensorLike, tensor: TensorLike, tag: TensorLike, summary_metadata: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Node:
        """Add a node of type WriteSummary and return the Node."""
    def Xdivy(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Xdivy and return the Output."""
    def XlaAllReduce(self, input: TensorLike, group_assignment: TensorLike, /, *, reduce_op: Literal['Min', 'Max', 'Mul', 'Add', 'Mean'] | bytes, mode: Literal['CrossReplica', 'CrossReplicaAndPartition'] | bytes, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaAllReduce and return the Output."""
    def XlaBroadcastHelper(self, lhs: TensorLike, rhs: TensorLike, broadcast_dims: TensorLike, /, *, T: DTypeLike | None = None, Tindices: DTypeLike | None = None, name: str | None = None) -> tuple[Output, Output]:
        """Add a node of type XlaBroadcastHelper and return a tuple of Outputs."""
    def XlaCallModule(self, args: Sequence[TensorLike], /, *, version: int, module: str | bytes, Sout: Sequence[ShapeLike], Tout: Sequence[DTypeLike], Tin: Sequence[DTypeLike] | None = None, dim_args_spec: Sequence[str | bytes] = ..., platforms: Sequence[str | bytes] = ..., function_list: Sequence[FuncRef | str] = ..., has_token_input_output: bool = False, disabled_checks: Sequence[str | bytes] = ..., use_shardy_partitioner: bool = False, name: str | None = None) -> OutputsOrNode:
        """Add a node of type XlaCallModule and return a tuple of Outputs."""
    def XlaClusterOutput(self, input: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type XlaClusterOutput and return the Output."""
    def XlaConcatND(self, inputs: Sequence[TensorLike], /, *, num_concats: Sequence[int], T: DTypeLike | None = None, N: int | None = None, paddings: Sequence[int] = ..., name: str | None = None) -> Output:
        """Add a node of type XlaConcatND and return the Output."""
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
        """Add a node of type XlaSplitND and return a tuple of Outputs."""
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
        """Add a node of type Xlog1py and return the Output."""
    def Xlogy(self, x: TensorLike, y: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Xlogy and return the Output."""
    def ZerosLike(self, x: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type ZerosLike and return the Output."""
    def Zeta(self, x: TensorLike, q: TensorLike, /, *, T: DTypeLike | None = None, name: str | None = None) -> Output:
        """Add a node of type Zeta and return the Output."""
    def ZipDataset(self, input_datasets: Sequence[OutputLike], /, *, output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], N: int | None = None, metadata: str | bytes = '', name: str | None = None) -> Output:
        """Add a node of type ZipDataset and return the Output."""
