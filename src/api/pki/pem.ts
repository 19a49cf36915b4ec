/**
 * Reads successive PEM blocks in one pass. The reader skips malformed blocks (no end line, a different label at the
 * end, invalid base64) and any text around the blocks. A begin line inside a block starts a new block, so the time is
 * linear for any input. Callers decide which labels and header lines are acceptable.
 */
export interface PemBlock {
  readonly label: string
  /** Whether header lines (`Proc-Type: ...`) precede the content. */
  readonly hasHeaders: boolean
  readonly bytes: Buffer
}

/** Prefix of the first and last line of a block. No other line of a block has this prefix. */
const mark = '\n-----'

/** Yields the blocks of a PEM file. */
export function* readPemBlocks(bytes: Buffer): Generator<PemBlock> {
  const text = `\n${bytes.toString('latin1')}`
  let open: { label: string; contentAt: number } | undefined
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
    const lineEnd = endOfLine(text, at + 1)
    const line = text.slice(at + 1, lineEnd).trimEnd()
    if (open !== undefined && line === `-----END ${open.label}-----`) {
      const block = readBlock(open.label, text.slice(open.contentAt, at))
      if (block !== undefined) yield block
    }
    const label = beginLabel(line)
    open = label === undefined ? undefined : { label, contentAt: Math.min(lineEnd + 1, text.length) }
  }
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from)
  return newline < 0 ? text.length : newline
}

function beginLabel(line: string): string | undefined {
  return line.startsWith('-----BEGIN ') && line.endsWith('-----') ? line.slice(11, -5) : undefined
}

function readBlock(label: string, content: string): PemBlock | undefined {
  const headers = headersLength(content)
  const base64 = content.slice(headers).replaceAll(/[ \t\r\n]+/g, '')
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined
  return { label, hasHeaders: headers > 0, bytes: Buffer.from(base64, 'base64') }
}

/**
 * Returns the length of the header lines. Header lines precede all other lines and contain a colon, which never occurs
 * in base64 text.
 */
function headersLength(content: string): number {
  let at = 0
  for (let end = 0; at < content.length; at = end + 1) {
    end = endOfLine(content, at)
    if (!content.slice(at, end).includes(':')) break
  }
  return Math.min(at, content.length)
}
