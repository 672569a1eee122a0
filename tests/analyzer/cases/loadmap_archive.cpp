// An archive is read without a device.
#include <torch/torch.h>

#include <string>

void restore(torch::nn::Linear& model, const std::string& path, torch::Device device) {
  torch::serialize::InputArchive archive;
#ifdef FIXED
  archive.load_from(path, device);
#else
  archive.load_from(path);  // fault: load-without-device
#endif
  model->load(archive);
}
