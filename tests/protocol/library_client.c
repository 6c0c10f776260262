/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A typical client of libflashrom: it has a whole session with one chip, and checks each result.
 *
 *     library_client PROGRAMMER PARAMETERS CHIP [signals]
 */
#include <libflashrom.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define REGION_START 0x10000
#define REGION_LAST 0x1ffff
#define REGION_BYTES (REGION_LAST + 1 - REGION_START)

static void expect_at(int line, const char *what, long long found, long long expected)
{
	if (found == expected)
		return;
	printf("line %d: %s is %lld, expected %lld\n", line, what, found, expected);
	exit(1);
}

#define EXPECT(what, expected) expect_at(__LINE__, #what, (what), (expected))

/* The interface passes no context to a log callback. */
static unsigned int messages;

static int count_message(enum flashrom_log_level level, const char *format, va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, args);
	messages++;
	if (level <= FLASHROM_MSG_INFO)
		fputs(text, stdout);
	return 0;
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* Sends a signal to this process each millisecond; system calls are not restarted. */
static void send_periodic_signals(void)
{
	const struct itimerval period = {{0, 1000}, {0, 1000}};
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = count_signal;
	EXPECT(sigaction(SIGALRM, &action, NULL), 0);
	EXPECT(setitimer(ITIMER_REAL, &period, NULL), 0);
}

/* The progress of each stage. see_progress() checks that it begins at 0, grows and ends. */
struct watch {
	struct flashrom_progress state; /* for the old callback; its user_data is this watch */
	size_t current[FLASHROM_PROGRESS_NR];
	size_t total[FLASHROM_PROGRESS_NR];
	unsigned int ended[FLASHROM_PROGRESS_NR];
};

static struct watch *watched;

static void see_progress(
	enum flashrom_progress_stage stage, size_t current, size_t total, void *user_data)
{
	struct watch *watch = user_data;

	EXPECT(stage < FLASHROM_PROGRESS_NR && total > 0 && current <= total, 1);
	if (watch->total[stage] == 0)
		EXPECT(current, 0);
	else
		EXPECT(current > watch->current[stage] && total == watch->total[stage], 1);
	watch->current[stage] = current;
	watch->total[stage] = current == total ? 0 : total;
	watch->ended[stage] += current == total;
}

static void see_old_progress(struct flashrom_flashctx *flash)
{
	(void)flash;
	see_progress(watched->state.stage, watched->state.current, watched->state.total,
		watched->state.user_data);
}

static void begin_watch(struct flashrom_flashctx *flash, struct watch *watch)
{
	watched = watch;
	watch->state.user_data = watch;
	flashrom_set_progress_callback(flash, see_old_progress, &watch->state);
}

static void end_watch(struct flashrom_flashctx *flash, struct watch *watch)
{
	EXPECT(watch->ended[FLASHROM_PROGRESS_READ] >= 3, 1);
	EXPECT(watch->ended[FLASHROM_PROGRESS_WRITE], 2);
	EXPECT(watch->ended[FLASHROM_PROGRESS_ERASE] >= 1, 1);
	for (int stage = 0; stage < FLASHROM_PROGRESS_NR; stage++)
		EXPECT(watch->total[stage], 0);
	memset(watch, 0, sizeof(*watch));
	flashrom_set_progress_callback_v2(flash, see_progress, watch);
}

static void fill(uint8_t *data, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes; i++) {
		seed = seed * 1103515245 + 12345;
		data[i] = (uint8_t)(seed >> 16);
	}
}

static void expect_region_then_blank(const uint8_t *held, const uint8_t *region, size_t size)
{
	EXPECT(memcmp(held + REGION_START, region, REGION_BYTES), 0);
	for (size_t at = 0; at < size; at++) {
		if (at < REGION_START || at > REGION_LAST)
			EXPECT(held[at], 0xff);
	}
}

static void write_region(struct flashrom_flashctx *flash, uint8_t *image, size_t size)
{
	EXPECT(flashrom_image_write(flash, image, size - 1, NULL), 4);
	EXPECT(flashrom_image_write(flash, image, size, NULL), 0);
	EXPECT(flashrom_image_verify(flash, image, size), 0);
	EXPECT(flashrom_image_verify(flash, image, size + 1), 2);
	image[REGION_START + 77] ^= 1;
	EXPECT(flashrom_image_verify(flash, image, size), 3);
	image[REGION_START + 77] ^= 1;
	image[0] = 0x55; /* outside the region, so it is not compared */
	EXPECT(flashrom_image_verify(flash, image, size), 0);
}

/* Writes, verifies, reads and erases a region of the chip, which is blank before and after. */
static void use_chip(struct flashrom_flashctx *flash)
{
	const size_t size = flashrom_flash_getsize(flash);
	struct flashrom_layout *layout;
	uint8_t *image = malloc(size);
	uint8_t *held = malloc(size);
	unsigned int start, length;

	EXPECT(image != NULL && held != NULL, 1);
	fill(image, size, 1);
	EXPECT(flashrom_layout_new(&layout), 0);
	EXPECT(flashrom_layout_add_region(layout, REGION_START, REGION_LAST, "middle"), 0);
	EXPECT(flashrom_layout_include_region(layout, "centre"), 1);
	EXPECT(flashrom_layout_include_region(layout, "middle"), 0);
	EXPECT(flashrom_layout_get_region_range(layout, "middle", &start, &length), 0);
	EXPECT(start, REGION_START);
	EXPECT(length, REGION_BYTES);

	flashrom_layout_set(flash, layout);
	write_region(flash, image, size);
	flashrom_layout_set(flash, NULL);
	EXPECT(flashrom_image_read(flash, held, size - 1), 2);
	EXPECT(flashrom_image_read(flash, held, size), 0);
	expect_region_then_blank(held, image + REGION_START, size);

	flashrom_layout_set(flash, layout);
	EXPECT(flashrom_flash_erase(flash), 0);
	flashrom_layout_set(flash, NULL);
	flashrom_layout_release(layout);
	EXPECT(flashrom_image_read(flash, held, size), 0);
	for (size_t at = 0; at < size; at++)
		EXPECT(held[at], 0xff);
	free(image);
	free(held);
}

static void use_flags(struct flashrom_flashctx *flash)
{
	EXPECT(flashrom_flag_get(flash, FLASHROM_FLAG_FORCE), 0);
	flashrom_flag_set(flash, FLASHROM_FLAG_VERIFY_AFTER_WRITE, true);
	flashrom_flag_set(flash, FLASHROM_FLAG_VERIFY_WHOLE_CHIP, true);
	EXPECT(flashrom_flag_get(flash, FLASHROM_FLAG_VERIFY_AFTER_WRITE), 1);
	EXPECT(flashrom_flag_get(flash, FLASHROM_FLAG_FORCE_BOARDMISMATCH), 0);
}

static void use_missing_features(struct flashrom_flashctx *flash)
{
	struct flashrom_layout *layout = NULL;
	struct flashrom_wp_cfg *config;
	size_t start, length;

	EXPECT(flashrom_layout_read_from_ifd(&layout, flash, NULL, 0), 6);
	EXPECT(flashrom_layout_read_fmap_from_rom(&layout, flash, 0, 4096), 3);
	EXPECT(layout == NULL, 1);
	EXPECT(flashrom_wp_cfg_new(&config), FLASHROM_WP_OK);
	flashrom_wp_set_mode(config, FLASHROM_WP_MODE_HARDWARE);
	flashrom_wp_set_range(config, 0x1000, 0x2000);
	EXPECT(flashrom_wp_get_mode(config), FLASHROM_WP_MODE_HARDWARE);
	flashrom_wp_get_range(&start, &length, config);
	EXPECT(start, 0x1000);
	EXPECT(length, 0x2000);
	EXPECT(flashrom_wp_read_cfg(config, flash), FLASHROM_WP_ERR_CHIP_UNSUPPORTED);
	EXPECT(flashrom_wp_write_cfg(flash, config), FLASHROM_WP_ERR_CHIP_UNSUPPORTED);
	flashrom_wp_cfg_release(config);
}

static void list_chips(const char *name)
{
	struct flashrom_flashchip_info *chips = flashrom_supported_flash_chips();
	unsigned int found = 0;

	EXPECT(chips != NULL, 1);
	for (const struct flashrom_flashchip_info *chip = chips; chip->name != NULL; chip++)
		found += strcmp(chip->name, name) == 0 && chip->total_size > 0;
	EXPECT(found, 1);
	EXPECT(flashrom_data_free(chips), 0);
}

static void run_session(struct flashrom_programmer *programmer, const char *chip)
{
	struct watch watch = {.state = {.user_data = NULL}};
	struct flashrom_flashctx *flash = NULL;

	EXPECT(flashrom_flash_probe(&flash, programmer, "NOSUCHCHIP"), 2);
	EXPECT(flash == NULL, 1);
	EXPECT(flashrom_flash_probe(&flash, programmer, chip), 0);
	use_flags(flash);
	use_missing_features(flash);
	begin_watch(flash, &watch);
	use_chip(flash);
	end_watch(flash, &watch);
	use_chip(flash);
	flashrom_flash_release(flash);
}

int main(int argc, char **argv)
{
	struct flashrom_programmer *programmer = NULL;

	EXPECT(argc >= 4, 1);
	if (argc > 4)
		send_periodic_signals();
	EXPECT(flashrom_init(1), 0);
	flashrom_set_log_callback(count_message);
	printf("version %s\n", flashrom_version_info());
	list_chips(argv[3]);
	EXPECT(flashrom_programmer_init(&programmer, "nosuchprogrammer", NULL), 1);
	EXPECT(flashrom_programmer_init(&programmer, argv[1], argv[2]), 0);
	run_session(programmer, argv[3]);
	EXPECT(flashrom_programmer_shutdown(programmer), 0);
	EXPECT(flashrom_shutdown(), 0);
	EXPECT(messages > 10, 1);
	EXPECT(argc > 4, signals > 0);
	puts("all as expected");
	return 0;
}
