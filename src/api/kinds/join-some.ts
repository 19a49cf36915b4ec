/** Joins the first items for a table cell, such as `a,b,c + 2 more...`. */
export function joinSome(items: readonly string[], { most, of = items.length }: { most: number; of?: number }): string {
  const shown = items.slice(0, most).join()
  return items.length >= most && of > most ? `${shown} + ${of - most} more...` : shown
}
