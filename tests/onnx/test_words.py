"""Words as expressions of RE2 are where scikit-learn finds them, in onnxruntime."""

import numpy as np
import onnxruntime
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from sklearn.feature_extraction.text import CountVectorizer

from skauc.onnx.words import word_pattern

WORDS = ["ab", "k9", "i_i", "straße", "él", "ой", "οδος", "日本", "ali", "stanbul", "a1²"]
PIECES = [
    *WORDS,
    *(word.upper() for word in WORDS if word != "οδος"),
    *("\u212a9", "Ali\u0130", "AL\u0130", "\u0130stanbul", "Istanbul", "e\u0301l", "aB"),
    *("\n", " ", "-", "_", "'", ".", "\u0301", "\u00a0", "9", "\U0001f600", "\\", "[", ""),
]


def _session():
    names = [f"w{number}" for number in range(len(WORDS))]
    nodes = [
        helper.make_node("RegexFullMatch", ["text"], [name], pattern=word_pattern(word))
        for name, word in zip(names, WORDS, strict=True)
    ]
    text = helper.make_tensor_value_info("text", TensorProto.STRING, [None])
    flags = [helper.make_tensor_value_info(name, TensorProto.BOOL, [None]) for name in names]
    graph = helper.make_graph(nodes, "words", [text], flags)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )


SESSION = _session()
COUNTER = CountVectorizer(binary=True, vocabulary=WORDS)


# ONNX Runtime may know letters of a later version of Unicode than Python does.
KNOWN = st.characters(exclude_categories=("Cn", "Cs"))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(KNOWN, max_size=3)), max_size=8))
def test_words_are_found_where_scikit_learn_finds_them(pieces):
    # What a capital sigma is in lower case depends on what is around it.
    assert_found([text.replace("Σ", "ς") for text in ("".join(pieces), " ".join(pieces))])


def test_greek_in_capitals():
    assert_found(["ΟΔΟΣ", "Η ΟΔΟΣ, ΟΔΟΣ", "ΟΔΟΣΑ"])


def assert_found(texts):
    texts = np.array(texts, dtype=object)
    found = np.column_stack(SESSION.run(None, {"text": texts}))
    expected = COUNTER.transform(texts).toarray().astype(bool)
    np.testing.assert_array_equal(found, expected)
