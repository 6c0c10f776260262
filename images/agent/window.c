// SPDX-License-Identifier: GPL-2.0-or-later
#include "window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__aarch64__) || defined(__arm__)
#define MAPPED_AS_DEVICE true
#else
#define MAPPED_AS_DEVICE false
#endif

int window_open(struct window *window, uint64_t address, size_t size_bytes)
{
	const int rights = PROT_READ | PROT_WRITE;
	int file = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	void *memory, *bytes;

	if (file < 0)
		return -errno;
	memory = mmap(NULL, size_bytes, rights, MAP_SHARED, file, (off_t)address);
	bytes = memory;
	if (memory != MAP_FAILED && MAPPED_AS_DEVICE)
		bytes = mmap(NULL, size_bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);
	close(file);
	/* Without MADV_DONTFORK every child would get page tables for the whole window. */
	if (bytes == MAP_FAILED || madvise(memory, size_bytes, MADV_DONTFORK) < 0 ||
		madvise(bytes, size_bytes, MADV_DONTFORK) < 0)
		return -errno;
	*window = (struct window){
		.bytes = bytes, .size_bytes = size_bytes, .address = address, .memory = memory};
	return 0;
}

/* Copies whole words. The last one is inside the window, too, which consists of pages. */
static void copy_words(void *to, const void *from, size_t count)
{
	volatile uint64_t *words_to = to;
	const volatile uint64_t *words_from = from;

	for (size_t i = 0; i < (count + sizeof(*words_to) - 1) / sizeof(*words_to); i++)
		words_to[i] = words_from[i];
}

void window_show(const struct window *window, size_t count)
{
	if (window->memory != window->bytes)
		copy_words(window->memory, window->bytes, count);
}

void window_look(const struct window *window, size_t count)
{
	if (window->memory != window->bytes)
		copy_words(window->bytes, window->memory, count);
}
