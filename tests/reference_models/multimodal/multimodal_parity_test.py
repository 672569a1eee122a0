"""The C++ Idefics against Hugging Face's on the same weights: logits, loss and gradients to 1e-5 in float32."""
import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import IdeficsConfig, IdeficsForVisionText2Text

from tools import BUILD, one_line, run

PARITY = BUILD / "tests" / "multimodal_parity"
TOLERANCE = 1e-5

SHAPE = dict(vocab_size=40, additional_vocab_size=0, hidden_size=32, intermediate_size=48, num_hidden_layers=3,
             num_attention_heads=4, cross_layer_interval=1, use_resampler=False, pad_token_id=0,
             freeze_text_layers=False, freeze_vision_layers=False, alpha_initializer="ones",
             initializer_range=0.2,
             vision_config=dict(embed_dim=24, image_size=12, patch_size=4, num_channels=3, num_hidden_layers=2,
                                num_attention_heads=3, intermediate_size=40))
VARIANTS = {
    "plain": {},
    "additional-vocabulary": dict(additional_vocab_size=2),
    "vector-gates": dict(alpha_type="vector"),
    "head-norms": dict(qk_layer_norms=True),
    "every-other-layer": dict(num_hidden_layers=4, cross_layer_interval=2),
}


def make_model(changes):
    torch.manual_seed(0)
    model = IdeficsForVisionText2Text(IdeficsConfig(**{**SHAPE, **changes}))
    with torch.no_grad():  # no weight at a value that would hide a mistake, such as a norm's 1 or a bias's 0
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.float().eval()


def make_inputs(config):
    """Three rows of two images: of unlike length, with tokens that see none, one or both of the images."""
    generator = torch.Generator().manual_seed(1)
    length = 9
    ids = torch.randint(3, config.vocab_size + config.additional_vocab_size, (3, length), generator=generator)
    mask = torch.ones_like(ids)
    mask[1, 6:] = 0
    mask[2, 4:] = 0
    ids[mask == 0] = 0
    side = config.vision_config.image_size
    pixels = torch.randn(3, 2, config.vision_config.num_channels, side, side, generator=generator)
    sees = torch.zeros(3, length, 2, dtype=torch.long)
    sees[:, 2:, 0] = 1
    sees[:, 5:, 1] = 1
    labels = ids.masked_fill(mask == 0, -100)
    labels[:, :3] = -100
    return {"input_ids": ids, "attention_mask": mask, "pixel_values": pixels, "image_attention_mask": sees,
            "labels": labels}


def reference(model, inputs):
    labels = inputs["labels"]
    logits = model(**{name: value for name, value in inputs.items() if name != "labels"}).logits
    # Hugging Face's own loss takes the logits apart by vocab_size, which fails with additional tokens.
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
    if model.config.additional_vocab_size == 0:
        torch.testing.assert_close(model(**inputs).loss, loss)
    loss.backward()
    gradients = {f"gradient.{name}": parameter.grad for name, parameter in model.named_parameters()
                 if parameter.grad is not None}
    return {"logits": logits.detach(), "loss": loss.detach(), **gradients}


def write_case(folder, model, inputs):
    (folder / "config.json").write_text(json.dumps(model.config.to_dict()))
    save_file({name: parameter.detach().clone() for name, parameter in model.named_parameters()},
              folder / "weights.safetensors")
    save_file(inputs, folder / "inputs.safetensors")
    return [folder / name for name in ("config.json", "weights.safetensors", "inputs.safetensors",
                                       "outputs.safetensors")]


@pytest.mark.parametrize("variant", VARIANTS)
def test_outputs_loss_and_gradients_are_hugging_faces(variant, tmp_path):
    model = make_model(VARIANTS[variant])
    inputs = make_inputs(model.config)
    files = write_case(tmp_path, model, inputs)
    expected = reference(model, inputs)

    result = run([PARITY, *files])
    assert result.returncode == 0, result.stderr
    outputs = load_file(files[-1])

    assert outputs.keys() == expected.keys()
    is_token = inputs["attention_mask"].bool()
    torch.testing.assert_close(outputs.pop("logits")[is_token], expected.pop("logits")[is_token],
                               rtol=TOLERANCE, atol=TOLERANCE)
    for name, value in expected.items():
        torch.testing.assert_close(outputs[name], value, rtol=TOLERANCE, atol=TOLERANCE, msg=lambda text: f"{name}: {text}")
    assert any(value.abs().max() > 1e-3 for value in expected.values())


def test_a_weight_that_is_missing_is_named(tmp_path):
    model = make_model({})
    files = write_case(tmp_path, model, make_inputs(model.config))
    weights = load_file(files[1])
    del weights["model.gated_cross_attn_layers.1.alpha_dense"]
    save_file(weights, files[1])
    result = run([PARITY, *files])
    assert result.returncode == 2
    assert "model.gated_cross_attn_layers.1.alpha_dense" in one_line(result.stderr)
