/* forms.c -- values of attributes, by their forms */
#include "forms.h"

int col_dwarf_form_bytes(uint32_t form, unsigned offset_bytes)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
        return 4;
    case DW_FORM_addr:
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_strp:
    case DW_FORM_ref_addr:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_line_strp:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return (int)offset_bytes;
    case DW_FORM_block:
    case DW_FORM_block1:
    case DW_FORM_block2:
    case DW_FORM_block4:
    case DW_FORM_exprloc:
    case DW_FORM_string:
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_indirect:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        return COL_FORM_VARIES;
    default:
        return COL_FORM_UNKNOWN;
    }
}

static uint64_t read_varying(struct col_dwarf_cursor *cursor, uint32_t form)
{
    switch (form) {
    case DW_FORM_string:
        col_dwarf_string(cursor);
        return 0;
    case DW_FORM_sdata:
        return (uint64_t)col_dwarf_sleb(cursor);
    case DW_FORM_block:
    case DW_FORM_exprloc:
        col_dwarf_skip(cursor, col_dwarf_uleb(cursor));
        return 0;
    case DW_FORM_block1:
        col_dwarf_skip(cursor, col_dwarf_fixed(cursor, 1));
        return 0;
    case DW_FORM_block2:
        col_dwarf_skip(cursor, col_dwarf_fixed(cursor, 2));
        return 0;
    case DW_FORM_block4:
        col_dwarf_skip(cursor, col_dwarf_fixed(cursor, 4));
        return 0;
    case DW_FORM_indirect: /* whose form stands before it is never one that is read here */
        cursor->is_bad = true;
        return 0;
    default:
        return col_dwarf_uleb(cursor);
    }
}

uint64_t col_dwarf_read_form(struct col_dwarf_cursor *cursor, uint32_t form, unsigned offset_bytes)
{
    int bytes = col_dwarf_form_bytes(form, offset_bytes);
    if (bytes == COL_FORM_VARIES)
        return read_varying(cursor, form);
    if (bytes == COL_FORM_UNKNOWN) {
        cursor->is_bad = true;
        return 0;
    }
    if (bytes > 8) {
        col_dwarf_skip(cursor, (uint64_t)bytes);
        return 0;
    }
    return form == DW_FORM_flag_present ? 1 : col_dwarf_fixed(cursor, (unsigned)bytes);
}

bool col_dwarf_is_address_index(uint32_t form)
{
    return form == DW_FORM_addrx || (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4) ||
           form == DW_FORM_GNU_addr_index;
}

bool col_dwarf_is_string_index(uint32_t form)
{
    return form == DW_FORM_strx || (form >= DW_FORM_strx1 && form <= DW_FORM_strx4) || form == DW_FORM_GNU_str_index;
}
