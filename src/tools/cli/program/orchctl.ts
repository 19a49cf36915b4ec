/**
 * The program `orchctl`, which connects `main.ts` to the streams and signals of the process. The first Ctrl-C aborts
 * the command, and the second Ctrl-C ends the process. If the reader of the output exits (`| head`), the program ends
 * silently, with an exit code that indicates incomplete output.
 */

import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { homeDirectory } from '../../../client/node/kubeconfig-files.ts'
import { main } from './main.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') writeSync(process.stderr.fd, `error: cannot write the output: ${error.code}\n`)
  endUnread(error)
})
process.stderr.on('error', endUnread)

const ended = main(
  {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    drained,
    input: readInput,
    inputStream,
    rawInput,
    followSize,
    terminal: {
      out: process.stdout.isTTY === true,
      err: process.stderr.isTTY === true,
      input: isatty(0),
      columns: process.stdout.columns,
    },
    runProgram,
    env: process.env,
    home: homeDirectory(),
    directory: process.cwd(),
    signal: stop.signal,
  },
  process.argv.slice(2),
)
let stopInput = () => {}
void ended.then((code) => {
  process.exitCode = code
  stopInput()
})

/** Exit code that shells report for a program ended by SIGPIPE. Node.js ignores this signal. */
const unread = 141

function endUnread({ code }: NodeJS.ErrnoException): never {
  process.exit(code === 'EPIPE' ? unread : 1)
}

/** Reads standard input. Stops when the consumer stops, because an open input would keep the process alive. */
function inputStream(): AsyncIterable<Buffer> {
  stopInput = () => process.stdin.destroy()
  return process.stdin
}

async function drained(): Promise<void> {
  if (process.stdout.writableNeedDrain) await new Promise((resolve) => process.stdout.once('drain', resolve))
}

function rawInput(): () => void {
  if (!process.stdin.isTTY) return () => {}
  process.stdin.setRawMode(true)
  return () => {
    process.stdin.setRawMode(false)
    process.stdin.pause()
  }
}

function followSize(onSize: (size: { columns: number; rows: number }) => void): () => void {
  const { stdout } = process
  if (!stdout.isTTY) return () => {}
  const tell = () => onSize({ columns: stdout.columns, rows: stdout.rows })
  tell()
  stdout.on('resize', tell)
  return () => stdout.off('resize', tell)
}

async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function runProgram(program: string, args: readonly string[]): Promise<number> {
  const [{ spawn }, { once }] = await Promise.all([import('node:child_process'), import('node:events')])
  const [code] = await once(spawn(program, args, { stdio: 'inherit' }), 'exit')
  return code ?? 1
}
