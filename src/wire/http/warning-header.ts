/**
 * Formats the value of a `Warning` header as `299 - "text"`. The text is UTF-8, as in kube-apiserver. Control
 * characters and unpaired surrogates, which headers must not contain, are replaced with `?`. A long message is
 * truncated at a character boundary.
 */

/**
 * Returns the value of a `Warning` header. `maxBytes` limits the UTF-8 length of the text. The result has one character
 * per byte, because that is how Node writes headers.
 */
export function warningHeader(text: string, maxBytes: number): string {
  // Truncate a long text first. Every character takes at least one byte, so the dropped characters would not fit.
  const printable = text.slice(0, maxBytes + 1).replaceAll(/\p{Cc}|\p{Cs}/gu, '?')
  const bytes = Buffer.from(printable, 'utf8')
  const cut = bytes.subarray(0, lengthOfWholeCharacters(bytes, maxBytes)).toString('latin1')
  return `299 - "${cut.replaceAll(/["\\]/g, '\\$&')}"`
}

function lengthOfWholeCharacters(bytes: Buffer, max: number): number {
  if (bytes.length <= max) return bytes.length
  let end = max
  while (end > 0 && isContinuation(bytes[end]!)) end--
  return end
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
