// Nothing of gloo/common/error.h is named in ProcessGroupGloo.hpp. See ../../README.md.
#pragma once
