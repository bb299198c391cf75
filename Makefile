# make               build/suture
# make demo          install what is missing, build, and show suture on a real SGLang wheel
# make static        build/suture, held to be one static file without a library
# make wheel         build/wheel/suture-*.whl, that file as pip, uv and pipx install it
# make test          install what is missing, build, and run every test
# make verify-kernels   build-kernels/verify_kernels for every GPU from sm_80 on (needs nvcc)
# make matrix        docs/compatibility.md, from 33 SGLang wheels and the FlashInfers that they pin (1 GB of downloads)
#
# SUTURE_CACHE=FOLDER moves the downloads (.cache), JOBS=N bounds the work at one time.
BUILD ?= build
SUTURE_CACHE ?= $(CURDIR)/.cache
JOBS ?= $(shell nproc)
CTEST = ctest --output-on-failure --no-tests=error -j $(JOBS)
configure = cmake -S . --preset $(1) -DSUTURE_CACHE=$(SUTURE_CACHE) $(CMAKE_FLAGS)

.PHONY: all build suture static wheel sources demo test test-backend test-remote test-page fuzz-trace check-all check-clang \
        check-asan check-tidy check-format check-shell bench bench-trace compare matrix format clean install-deps \
        verify-kernels

all: suture

sources:
	@scripts/fetch_sources.sh $(SUTURE_CACHE)

# The executable alone; `build` is with the tests. CMake's line about verify_kernels says whether nvcc was there.
suture: sources
	@$(call configure,default) -B $(BUILD) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }; \
	  sed -n 's/^-- \(verify_kernels: \)/\1/p' $(BUILD).log; rm -f $(BUILD).log
	@cmake --build $(BUILD) -j $(JOBS) --target suture

static: suture
	@scripts/check_static.sh $(BUILD)/suture

wheel: static
	@rm -rf $(BUILD)/wheel
	@tools=$$(scripts/fetch_tools.sh $(SUTURE_CACHE)) && PATH=$$tools/bin:$$PATH SUTURE_PREBUILT=$(abspath $(BUILD))/suture \
	  python -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w $(BUILD)/wheel .
	@ls $(BUILD)/wheel/*.whl

build: suture
	@cmake --build $(BUILD) -j $(JOBS)

install-deps:
	@scripts/install_deps.sh

demo: install-deps
	@$(MAKE) --no-print-directory suture
	@SUTURE_CACHE=$(SUTURE_CACHE) scripts/demo.sh $(BUILD)/suture

test:
	@scripts/install_deps.sh test
	@$(MAKE) --no-print-directory build
	$(CTEST) --test-dir $(BUILD)

# The patched backend runs on the CPU (needs torch; says skipped where there is none).
test-backend: build
	$(CTEST) --test-dir $(BUILD) -L backend

# The executable on other hosts: ssh, ansible, images, the wheel.
test-remote: build
	$(CTEST) --test-dir $(BUILD) -L remote
# The page of `suture trace --html` in headless Chromium: console, keyboard, light, dark, without JavaScript.
test-page: suture
	@scripts/install_deps.sh page
	@SUTURE=$(CURDIR)/$(BUILD)/suture SUTURE_SOURCE=$(CURDIR) python3 tests/trace/browser.py $(BUILD)/page

# All of the below, for whoever is about to submit: both compilers, the sanitizers, the linters, every test.
check-all:
	@scripts/install_deps.sh check
	@$(MAKE) --no-print-directory check-format check-shell test check-clang check-asan check-tidy

check-clang: sources
	@$(call configure,clang) -B $(BUILD)-clang > /dev/null
	@cmake --build $(BUILD)-clang -j $(JOBS)
	$(CTEST) --test-dir $(BUILD)-clang -L 'unit|cli'

check-asan: sources
	@$(call configure,asan) -B $(BUILD)-asan > /dev/null
	@cmake --build $(BUILD)-asan -j $(JOBS)
	$(CTEST) --test-dir $(BUILD)-asan -L unit

check-tidy: sources
	@$(call configure,tidy) -B $(BUILD)-tidy > /dev/null
	@cmake --build $(BUILD)-tidy -j $(JOBS) --target suture

# Traces that are wrong in every way, for SECONDS on one core, with AddressSanitizer; what fails is left in $(BUILD)-fuzz.
fuzz-trace: sources
	@cmake -S . -B $(BUILD)-fuzz -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
	  -DSUTURE_SANITIZE=address,undefined -DSUTURE_FUZZ=ON -DSUTURE_CACHE=$(SUTURE_CACHE) $(CMAKE_FLAGS) > /dev/null
	@cmake --build $(BUILD)-fuzz -j $(JOBS) --target trace_fuzz
	@mkdir -p $(BUILD)-fuzz/corpus
	cd $(BUILD)-fuzz && tests/trace_fuzz -max_total_time=$(or $(SECONDS),1800) -max_len=16384 -timeout=10 corpus ../tests/fuzz/corpus/trace

# One executable with machine code for each supported GPU, and PTX for later ones. `make build` compiles PTX alone.
verify-kernels:
	@command -v nvcc > /dev/null || test -n "$$CUDACXX" || { echo "verify-kernels: there is no nvcc on the PATH; install the CUDA toolkit, or name its nvcc in CUDACXX"; exit 1; }
	@cmake -S verify_kernels -B $(BUILD)-kernels -DCMAKE_BUILD_TYPE=Release -DVERIFY_KERNELS_ARCHITECTURES=$(or $(ARCHITECTURES),all) $(CMAKE_FLAGS) > /dev/null
	@cmake --build $(BUILD)-kernels -j $(JOBS)

our_sources = $(shell find src tests bench verify_kernels -name '*.cc' -o -name '*.h' -o -name '*.cu')

check-format:
	@clang-format --dry-run --Werror $(our_sources)

check-shell:
	@shellcheck scripts/*.sh examples/remote/suture-ssh

format:
	@clang-format -i $(our_sources)

bench: suture
	@SUTURE_CACHE=$(SUTURE_CACHE) python3 bench/diff_bench.py $(BUILD)/suture
	@SUTURE_CACHE=$(SUTURE_CACHE) python3 bench/audit_bench.py $(BUILD)/suture

# A generated trace of 480 MB, plain and compressed: suture beside Python's json, time and memory.
bench-trace: suture
	@python3 bench/trace_bench.py $(BUILD)/suture

# docs/comparison.md: the cases of tests/pitfalls, by suture and by ast-grep. Downloads the latter; not in CI.
compare: suture
	@test -x $(SUTURE_CACHE)/compare/bin/ast-grep || { python3 -m venv $(SUTURE_CACHE)/compare && \
	  $(SUTURE_CACHE)/compare/bin/pip install -q ast-grep-cli==0.51.1 PyYAML==6.0.4; }
	@SUTURE=$(CURDIR)/$(BUILD)/suture SUTURE_SOURCE=$(CURDIR) $(SUTURE_CACHE)/compare/bin/python tests/pitfalls/compare.py docs/comparison.md

# docs/compatibility.md. `make test` checks four releases of it.
matrix: suture
	@SUTURE=$(CURDIR)/$(BUILD)/suture SUTURE_SOURCE=$(CURDIR) SUTURE_CACHE=$(SUTURE_CACHE) python3 tests/matrix/matrix.py

clean:
	rm -rf $(BUILD) $(BUILD)-clang $(BUILD)-asan $(BUILD)-tidy $(BUILD)-debug $(BUILD)-kernels $(BUILD)-fuzz
