/* Tile of TILE_ROWS rows, included by dot_tile.h: the function, or its table entry. */
#ifdef TILE_ENTRIES
JOIN(OWN(rows), JOIN(_, TILE_ROWS)),
#else
static void JOIN(OWN(rows), JOIN(_, TILE_ROWS))(const tsl_amx_tile *tile) {
  OWN(multiply_any)(tile, TILE_ROWS);
}
#endif
