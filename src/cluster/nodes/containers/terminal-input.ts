/** Implements line editing for a client terminal in raw mode: echo, backspace and control keys. */

const interrupt = '\u0003'
const endOfInput = '\u0004'
const maxLine = 4096

/** Yields complete lines, including the line break. `show` prints text on the terminal. */
export async function* typedLines(
  input: AsyncIterable<Buffer>,
  show: (text: string) => Promise<void>,
  prompt: string,
): AsyncGenerator<Buffer> {
  let line = ''
  await show(prompt)
  for await (const chunk of input)
    for (const key of chunk.toString()) {
      if (key === endOfInput && line === '') return
      if (key === '\r' || key === '\n') {
        await show('\r\n')
        yield Buffer.from(`${line}\n`)
        line = ''
        await show(prompt)
      } else if (key === interrupt) {
        line = ''
        await show(`^C\r\n${prompt}`)
      } else if (key === '\u007f' || key === '\b') {
        if (line !== '') await show('\b \b')
        line = line.slice(0, -1)
      } else if (key >= ' ' && line.length < maxLine) {
        line += key
        await show(key)
      }
    }
}
