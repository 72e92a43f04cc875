"""Suppression of many boxes in blocks, beside the definition by pairs of boxes."""

import numpy as np
import pytest

from tfg.core.ops.image.image_nms import combined_non_max_suppression, non_max_suppression_v5


def drawn(count, spread, seed=0):
    rng = np.random.default_rng(seed)
    corners = rng.uniform(0, spread, (count, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(0.1, 1, (count, 2))], 1).astype(np.float32)
    return boxes, (rng.permutation(count) / count).astype(np.float32)


def overlap(a, b):
    height, width = (max(min(a[i + 2], b[i + 2]) - max(a[i], b[i]), 0) for i in (0, 1))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    return height * width / (sum(areas) - height * width)


def defined(boxes, scores, limit, threshold, lowest, sigma=0.0):
    """Select the best remaining box repeatedly; overlapping boxes are removed, or lose a part of their score."""
    boxes, scores = boxes.astype(np.float64), scores.astype(np.float64)
    kept = []
    while len(kept) < limit and scores.max(initial=0) > lowest:
        best = int(scores.argmax())
        kept.append((best, scores[best]))
        scores[best] = -1
        for i, box in enumerate(boxes):
            shared = overlap(boxes[best], box)
            if sigma:
                scores[i] *= np.exp(-0.5 * shared**2 / sigma)
            elif shared > threshold:
                scores[i] = -1
    return kept


@pytest.mark.sampled(10)
@pytest.mark.parametrize("sigma", [0.0, 0.3])
@pytest.mark.parametrize("spread", [1, 8])
@pytest.mark.parametrize(("count", "limit"), [(1, 1), (40, 5), (400, 60), (400, 400), (600, 150)])
def test_boxes_kept(count, limit, spread, sigma):
    boxes, scores = drawn(count, spread)
    options = np.float32(0.4), np.float32(0.05), np.float32(sigma)
    index, result, size = non_max_suppression_v5(boxes, scores, np.int32(limit), *options, pad_to_max_output_size=False)
    want = defined(boxes, scores, limit, *options)
    assert (index.tolist(), int(size)) == ([i for i, _ in want], len(want))
    np.testing.assert_allclose(result, [score for _, score in want], rtol=1e-5)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("total", [25, 60, 300])
@pytest.mark.parametrize("limit", [4, 20])
@pytest.mark.parametrize("own_boxes", [True, False])
def test_boxes_kept_of_classes(own_boxes, limit, total):
    boxes, scores = drawn(150, 4)
    of_classes = np.stack([scores, np.roll(scores, 7), scores[::-1]], 1)
    shifted = np.stack([boxes, boxes + 1, boxes[::-1]], 1) if own_boxes else boxes[:, None]
    outputs = combined_non_max_suppression(
        shifted[None], of_classes[None], np.int32(limit), np.int32(total), np.float32(0.4), np.float32(0.05),
        pad_per_class=False, clip_boxes=False,
    )  # fmt: skip
    want = []
    for number in range(3):
        mine = shifted[:, number if own_boxes else 0]
        want += [(score, number, mine[i].tolist()) for i, score in defined(mine, of_classes[:, number], limit, 0.4, 0.05)]
    count = int(outputs[3][0])
    selected = list(zip(outputs[1][0].tolist(), outputs[2][0].tolist(), outputs[0][0].tolist()))
    want.sort(key=lambda box: -box[0])
    assert selected[:count] == [(np.float32(s).item(), n, box) for s, n, box in want[:total]]
