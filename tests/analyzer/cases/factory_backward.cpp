// A custom autograd function fills a gradient in backward.
#include <torch/torch.h>

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class GatherRows : public torch::autograd::Function<GatherRows> {
 public:
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor table, torch::Tensor rows) {
    ctx->save_for_backward({rows});
    ctx->saved_data["count"] = table.size(0);
    return table.index_select(0, rows);
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto rows = ctx->get_saved_variables()[0];
    auto count = ctx->saved_data["count"].toInt();
    auto grad = grads[0];
#ifdef FIXED
    auto result = torch::zeros({count, grad.size(1)}, grad.options());
#else
    auto result = torch::zeros({count, grad.size(1)});  // fault: factory-without-device
#endif
    return {result.index_add(0, rows, grad), torch::Tensor()};
  }
};
