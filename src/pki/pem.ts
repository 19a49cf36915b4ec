/**
 * Reads PEM blocks out of a text, one after the other, in one pass: text around the blocks and blocks that are not
 * well formed (no end line, another label at the end, no base64) are passed over. A begin line inside a block starts
 * anew, so the work is linear in the text whatever it holds. What labels and header lines are acceptable is left to
 * the callers.
 */
export interface PemBlock {
  readonly label: string
  /** Whether header lines (`Proc-Type: ...`) precede the content. */
  readonly hasHeaders: boolean
  readonly bytes: Buffer
}

/** A block whose end line has not come yet. */
interface OpenBlock {
  readonly label: string
  hasHeaders: boolean
  readonly content: string[]
}

const endMark = '-----END '

export function* readPemBlocks(text: Buffer): Generator<PemBlock> {
  let open: OpenBlock | undefined
  for (const line of linesOf(text.toString('latin1'))) {
    const label = beginLabel(line)
    if (label !== undefined) open = { label, hasHeaders: false, content: [] }
    else if (open !== undefined && line.startsWith(endMark)) {
      const block = closeBlock(open, line)
      open = undefined
      if (block !== undefined) yield block
    } else if (open !== undefined) addLine(open, line)
  }
}

/** Lines without their ends and without blanks at their ends. */
function* linesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at)
    const end = newline < 0 ? text.length : newline
    yield text.slice(at, end).trimEnd()
    at = end + 1
  }
}

function beginLabel(line: string): string | undefined {
  return line.startsWith('-----BEGIN ') && line.endsWith('-----') ? line.slice(11, -5) : undefined
}

/** Header lines have a colon, which base64 has not, and come before everything else. */
function addLine(open: OpenBlock, line: string): void {
  if (open.content.length === 0 && line.includes(':')) open.hasHeaders = true
  else open.content.push(line)
}

function closeBlock({ label, hasHeaders, content }: OpenBlock, endLine: string): PemBlock | undefined {
  const base64 = content.join('').replaceAll(/[ \t\r]/g, '')
  const isWellFormed =
    endLine === `${endMark}${label}-----` && base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(base64)
  return isWellFormed ? { label, hasHeaders, bytes: Buffer.from(base64, 'base64') } : undefined
}
