/** Joins the first items of a list for a table cell, as in `a,b,c + 2 more...`. */
export function joinSome(
  items: readonly string[],
  { max, total = items.length }: { max: number; total?: number },
): string {
  const shown = items.slice(0, max).join()
  return items.length >= max && total > max ? `${shown} + ${total - max} more...` : shown
}
