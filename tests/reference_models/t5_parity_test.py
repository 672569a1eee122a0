"""The encoder classifier against Hugging Face's T5EncoderModel and PEFT's LoRA on the same weights, to 1e-5 in float32."""
import json

import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import T5Config, T5EncoderModel

from tools import BUILD, run

PARITY = BUILD / "tests" / "t5_parity"
TOLERANCE = 1e-5
PADDING, END = 0, 1

SHAPE = dict(vocab_size=22, d_model=32, d_kv=8, num_heads=4, d_ff=48, num_layers=3, feed_forward_proj="gated-gelu",
             relative_attention_num_buckets=8, relative_attention_max_distance=20, pad_token_id=PADDING)
LORA = LoraConfig(r=4, lora_alpha=12, lora_dropout=0.05, target_modules=["q", "v"], bias="none")


class Classifier(nn.Module):
    """T5EncoderModel, the mean over the letters, one linear unit: what the C++ program is, in Hugging Face's terms."""

    def __init__(self, changes, lora):
        super().__init__()
        encoder = T5EncoderModel(T5Config(**{**SHAPE, **changes}))
        self.t5 = get_peft_model(encoder, LORA) if lora else encoder
        self.classifier = nn.Linear(SHAPE["d_model"], 1)
        with torch.no_grad():  # no weight at a value that would hide a mistake, such as lora_B's 0
            for parameter in self.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.1)

    def forward(self, ids):
        hidden = self.t5(input_ids=ids, attention_mask=(ids != PADDING).long()).last_hidden_state
        is_letter = ((ids != PADDING) & (ids != END)).unsqueeze(-1)
        pooled = (hidden * is_letter).sum(1) / is_letter.sum(1)
        return hidden, self.classifier(pooled).squeeze(-1)

    def named(self):
        """Parameters by the names they have in C++."""
        for name, parameter in self.named_parameters():
            for part in ("t5.", "base_model.model.", "base_layer.", "default."):
                name = name.replace(part, "")
            yield name, parameter


def make_inputs():
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(2, SHAPE["vocab_size"], (4, 30), generator=generator)
    for row, length in enumerate((29, 12, 1, 20)):
        ids[row, length] = END
        ids[row, length + 1:] = PADDING
    return {"input_ids": ids, "labels": torch.tensor([1.0, 0.0, 1.0, 0.0])}


@pytest.mark.parametrize("feed_forward", ["relu", "gated-gelu"])
@pytest.mark.parametrize("lora", [False, True], ids=["full", "lora"])
def test_outputs_loss_and_gradients_are_hugging_faces(feed_forward, lora, tmp_path):
    torch.manual_seed(0)
    model = Classifier(dict(feed_forward_proj=feed_forward), lora).eval()
    inputs = make_inputs()
    config = (model.t5.base_model.model if lora else model.t5).config.to_dict()
    if lora:
        config |= {"lora_rank": LORA.r, "lora_alpha": LORA.lora_alpha}
    files = [tmp_path / name for name in ("config.json", "weights.safetensors", "inputs.safetensors",
                                          "outputs.safetensors")]
    files[0].write_text(json.dumps(config, default=str))
    save_file({name: parameter.detach().clone() for name, parameter in model.named()}, files[1])
    save_file(inputs, files[2])

    hidden, logits = model(inputs["input_ids"])
    loss = nn.functional.binary_cross_entropy_with_logits(logits, inputs["labels"])
    loss.backward()
    expected = {"logits": logits.detach(), "loss": loss.detach(),
                **{f"gradient.{name}": parameter.grad for name, parameter in model.named()
                   if parameter.grad is not None}}

    result = run([PARITY, *files])
    assert result.returncode == 0, result.stderr
    outputs = load_file(files[-1])
    is_token = inputs["input_ids"] != PADDING
    torch.testing.assert_close(outputs.pop("hidden")[is_token], hidden.detach()[is_token], rtol=TOLERANCE, atol=TOLERANCE)
    assert outputs.keys() == expected.keys()
    assert lora == ("gradient.encoder.block.0.layer.0.SelfAttention.q.lora_A.weight" in expected)
    for name, value in expected.items():
        torch.testing.assert_close(outputs[name], value, rtol=TOLERANCE, atol=TOLERANCE, msg=lambda text: f"{name}: {text}")
    assert any(value.abs().max() > 1e-3 for name, value in expected.items() if name.startswith("gradient."))
