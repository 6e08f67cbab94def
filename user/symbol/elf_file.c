// SPDX-License-Identifier: MIT
/*
 * elf_file.c - headers, segments, sections and build id of one ELF file.
 *
 * In:  a descriptor of a regular file (or bytes in memory) that the target's owner may have forged
 *      and may change while it is read. libelf reads with pread, so a file that shrinks gives an
 *      error and never a signal; what libelf would allocate for is bounded here before.
 * Out: see elf_file.h. The symbol tables are read in elf_symbols.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/elf_internal.h"

#define MAX_SECTIONS	 65536u
#define MAX_SEGMENTS	 1024u
#define MAX_NOTE_BYTES	 (64ull << 10)
#define MAX_MEMORY_BYTES (64ull << 20)
/* of all sections together that are read of one file, as they are after inflating */
#define MAX_SECTION_BYTES (256ull << 20)

#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#endif

/* True if `size` bytes at `offset` lie inside a file of `whole` bytes. */
static bool is_inside(uint64_t offset, uint64_t size, uint64_t whole)
{
	return offset <= whole && size <= whole - offset;
}

/* Exactly `size` bytes of the file, or -EFAULT. */
static int read_file(const struct sdw_elf *elf, uint64_t offset, void *to, size_t size)
{
	size_t done = 0;

	if (!is_inside(offset, size, elf->file_size))
		return -EFAULT;
	if (elf->fd < 0) {
		memcpy(to, (const char *)elf->memory + offset, size);
		return 0;
	}
	while (done < size) {
		ssize_t n = pread(elf->fd, (char *)to + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EFAULT;
		done += (size_t)n;
	}
	return 0;
}

/*
 * Refuses what libelf would take but nobody can use here: another word size, byte order, machine
 * or kind of file, and tables that do not fit into the file (libelf allocates per section).
 */
static int check_header(const struct sdw_elf *elf)
{
	uint64_t sections;
	Elf64_Ehdr header;
	Elf64_Shdr first;

	if (read_file(elf, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_machine != NATIVE_MACHINE ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return -ENOEXEC;
	if (header.e_phnum > MAX_SEGMENTS || header.e_phentsize != sizeof(Elf64_Phdr) ||
	    !is_inside(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), elf->file_size))
		return -ENOEXEC;
	if (!header.e_shoff)
		return 0;
	if (header.e_shentsize != sizeof(Elf64_Shdr) ||
	    read_file(elf, header.e_shoff, &first, sizeof(first)))
		return -ENOEXEC;
	/* more than 65279 sections are counted in the first one's size */
	sections = header.e_shnum ? header.e_shnum : first.sh_size;
	if (sections > MAX_SECTIONS ||
	    !is_inside(header.e_shoff, sections * sizeof(Elf64_Shdr), elf->file_size))
		return -ENOEXEC;
	return 0;
}

static void read_build_id(struct sdw_elf *elf, const GElf_Phdr *segment)
{
	size_t at = 0, name, text;
	GElf_Nhdr note;
	Elf_Data *data;

	if (!segment->p_filesz || segment->p_filesz > MAX_NOTE_BYTES ||
	    !is_inside(segment->p_offset, segment->p_filesz, elf->file_size))
		return;
	data = elf_getdata_rawchunk(elf->elf, (int64_t)segment->p_offset, segment->p_filesz,
				    segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	while (data && (at = gelf_getnote(data, at, &note, &name, &text)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp((const char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) !=
			    0)
			continue;
		if (!note.n_descsz || note.n_descsz > sizeof(elf->build_id))
			continue;
		memcpy(elf->build_id, (const char *)data->d_buf + text, note.n_descsz);
		elf->build_id_size = note.n_descsz;
		return;
	}
}

static int read_segments(struct sdw_elf *elf)
{
	size_t count;

	if (elf_getphdrnum(elf->elf, &count) || count > MAX_SEGMENTS)
		return -ENOEXEC;
	elf->segments = calloc(count ? count : 1, sizeof(*elf->segments));
	if (!elf->segments)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf->elf, (int)i, &header))
			return -ENOEXEC;
		if (header.p_type == PT_NOTE && !elf->build_id_size)
			read_build_id(elf, &header);
		/* an address range that wraps around holds nothing that can be looked up */
		if (header.p_type != PT_LOAD || header.p_vaddr + header.p_memsz < header.p_vaddr ||
		    header.p_offset + header.p_filesz < header.p_offset ||
		    header.p_filesz > header.p_memsz)
			continue;
		elf->segments[elf->segment_count++] = (struct sdw_elf_segment){
			.vaddr = header.p_vaddr,
			.offset = header.p_offset,
			.file_size = header.p_filesz,
			.memory_size = header.p_memsz,
			.flags = header.p_flags,
		};
	}
	return 0;
}

/* Takes over what `elf` holds already, also when it fails. */
static int finish_open(struct sdw_elf *elf, struct sdw_elf **out)
{
	int err = check_header(elf);

	if (err)
		goto out;
	err = -ENOEXEC;
	if (elf_version(EV_CURRENT) == EV_NONE)
		goto out;
	elf->elf = elf->fd >= 0 ? elf_begin(elf->fd, ELF_C_READ, NULL)
				: elf_memory(elf->memory, elf->file_size);
	if (!elf->elf || elf_kind(elf->elf) != ELF_K_ELF)
		goto out;
	err = read_segments(elf);
out:
	if (err)
		sdw_elf_unref(elf);
	else
		*out = elf;
	return err;
}

static struct sdw_elf *allocate(uint64_t file_size)
{
	struct sdw_elf *elf = calloc(1, sizeof(*elf));

	if (!elf)
		return NULL;
	elf->references = 1;
	elf->fd = -1;
	elf->file_size = file_size;
	elf->budget = MAX_SECTION_BYTES;
	return elf;
}

int sdw_elf_open(int fd, struct sdw_elf **out)
{
	struct sdw_elf *elf;
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size < 0)
		return -ENOEXEC;
	elf = allocate((uint64_t)status.st_size);
	if (!elf)
		return -ENOMEM;
	elf->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (elf->fd < 0) {
		int err = -errno;

		sdw_elf_unref(elf);
		return err;
	}
	return finish_open(elf, out);
}

int sdw_elf_open_memory(const void *bytes, size_t size, struct sdw_elf **out)
{
	struct sdw_elf *elf;

	if (size < sizeof(Elf64_Ehdr) || size > MAX_MEMORY_BYTES)
		return -ENOEXEC;
	elf = allocate(size);
	if (!elf)
		return -ENOMEM;
	elf->memory = malloc(size);
	if (!elf->memory) {
		sdw_elf_unref(elf);
		return -ENOMEM;
	}
	memcpy(elf->memory, bytes, size);
	return finish_open(elf, out);
}

struct sdw_elf *sdw_elf_ref(struct sdw_elf *elf)
{
	elf->references++;
	return elf;
}

void sdw_elf_unref(struct sdw_elf *elf)
{
	if (!elf || --elf->references)
		return;
	if (elf->note && elf->note_release)
		elf->note_release(elf->note);
	sdw_elf_unref(elf->debug);
	free(elf->evaluation);
	free(elf->instructions);
	free(elf->functions);
	sdw_map64_free(&elf->stub_names);
	free(elf->segments);
	elf_end(elf->elf);
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->memory);
	free(elf);
}

bool sdw_elf_is_shared(const struct sdw_elf *elf)
{
	return elf->references > 1;
}

void sdw_elf_set_note(struct sdw_elf *elf, void *note, void (*release)(void *note))
{
	if (elf->note && elf->note_release)
		elf->note_release(elf->note);
	elf->note = note;
	elf->note_release = release;
}

void *sdw_elf_note(const struct sdw_elf *elf)
{
	return elf->note;
}

const struct sdw_elf_segment *sdw_elf_segments(const struct sdw_elf *elf, size_t *count)
{
	*count = elf->segment_count;
	return elf->segments;
}

int sdw_elf_offset_to_vaddr(const struct sdw_elf *elf, uint64_t offset, uint64_t *vaddr)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct sdw_elf_segment *segment = &elf->segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->file_size) {
			*vaddr = offset - segment->offset + segment->vaddr;
			return 0;
		}
	}
	return -ENOENT;
}

const uint8_t *sdw_elf_build_id(const struct sdw_elf *elf, size_t *size)
{
	*size = elf->build_id_size;
	return elf->build_id_size ? elf->build_id : NULL;
}

int sdw_elf_read(const struct sdw_elf *elf, uint64_t vaddr, void *to, size_t size)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct sdw_elf_segment *segment = &elf->segments[i];

		if (vaddr >= segment->vaddr &&
		    is_inside(vaddr - segment->vaddr, size, segment->file_size))
			return read_file(elf, segment->offset + (vaddr - segment->vaddr), to, size);
	}
	return -EFAULT;
}

/* Reads (and inflates) a section that is not in memory yet. */
static Elf_Data *load_section(struct sdw_elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;
	GElf_Chdr compressed;
	uint64_t size;

	if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
	    !is_inside(header.sh_offset, header.sh_size, elf->file_size))
		return NULL;
	size = header.sh_size;
	if (header.sh_flags & SHF_COMPRESSED) {
		/* what is declared here is the most that libelf will inflate */
		if (size > elf->budget || !gelf_getchdr(section, &compressed))
			return NULL;
		size = compressed.ch_size;
	}
	if (!size || size > elf->budget)
		return NULL;
	elf->budget -= size;
	if ((header.sh_flags & SHF_COMPRESSED) && elf_compress(section, 0, 0) < 0)
		return NULL;
	return elf_getdata(section, NULL);
}

Elf_Data *sdw_elf_section_data(struct sdw_elf *elf, Elf_Scn *section)
{
	size_t index = elf_ndxscn(section), i;

	for (i = 0; i < elf->loaded_count; i++) {
		if (elf->loaded[i].index == index)
			return elf->loaded[i].data;
	}
	/* few are ever asked for; a failure is remembered like a success */
	if (i == SDW_ELF_LOADED_MAX)
		return NULL;
	elf->loaded[i].index = index;
	elf->loaded[i].data = load_section(elf, section);
	elf->loaded_count++;
	return elf->loaded[i].data;
}

Elf_Scn *sdw_elf_section_of_type(struct sdw_elf *elf, uint32_t type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf->elf, section)) != NULL) {
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	}
	return NULL;
}

const char *sdw_elf_string(const Elf_Data *strings, uint64_t offset)
{
	const char *text;

	if (!strings || !strings->d_buf || offset >= strings->d_size)
		return NULL;
	text = (const char *)strings->d_buf + offset;
	return memchr(text, '\0', strings->d_size - offset) ? text : NULL;
}

static Elf_Scn *section_named(struct sdw_elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	Elf_Data *names;
	size_t index;

	if (elf_getshdrstrndx(elf->elf, &index) || !elf_getscn(elf->elf, index))
		return NULL;
	names = sdw_elf_section_data(elf, elf_getscn(elf->elf, index));
	while ((section = elf_nextscn(elf->elf, section)) != NULL) {
		const char *found;

		if (!gelf_getshdr(section, header))
			continue;
		found = sdw_elf_string(names, header->sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

int sdw_elf_section(struct sdw_elf *elf, const char *name, struct sdw_elf_section *out)
{
	Elf_Data *data = NULL;
	GElf_Shdr header;
	Elf_Scn *section = section_named(elf, name, &header);

	*out = (struct sdw_elf_section){0};
	if (section)
		data = sdw_elf_section_data(elf, section);
	if (!data || !data->d_buf) {
		/* in a debug file the other sections are empty shells */
		if (strcmp(name, ".debug_frame") == 0 && sdw_elf_debug_file(elf))
			return sdw_elf_section(sdw_elf_debug_file(elf), name, out);
		return section && header.sh_type != SHT_NOBITS ? -ENOEXEC : -ENOENT;
	}
	out->data = data->d_buf;
	out->size = data->d_size;
	out->vaddr = header.sh_addr;
	return 0;
}

int sdw_elf_section_address(struct sdw_elf *elf, const char *name, uint64_t *vaddr, uint64_t *size)
{
	GElf_Shdr header;

	if (!section_named(elf, name, &header))
		return -ENOENT;
	*vaddr = header.sh_addr;
	*size = header.sh_size;
	return 0;
}
