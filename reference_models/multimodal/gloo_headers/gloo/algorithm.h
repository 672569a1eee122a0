// Nothing of gloo/algorithm.h is named in ProcessGroupGloo.hpp. See ../README.md.
#pragma once
