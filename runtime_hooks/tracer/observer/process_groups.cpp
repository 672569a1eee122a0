// Apart from the rest for the headers of c10d, which few units should pay for.
#include "observer/process_groups.h"

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "core/process_facts.h"

namespace devsan::trace {

void note_group_of(const at::RecordFunction& record) {
  for (const c10::IValue& value : record.inputs()) {
    if (!value.isCustomClass()) continue;
    const c10::intrusive_ptr<c10::ivalue::Object> object = value.toObject();
    if (object->type()->repr_str().find("c10d.ProcessGroup") == std::string::npos) continue;
    const auto group = value.toCustomClass<c10d::ProcessGroup>();
    note_process_group(group->getRank(), group->getSize());
    return;
  }
}

}  // namespace devsan::trace
