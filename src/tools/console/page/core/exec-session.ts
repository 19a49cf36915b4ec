/**
 * Runs a command in a container over a WebSocket, like `kubectl exec -it`. The first byte of a message is its channel.
 * The last message from the server is a Status on the error channel.
 */

const protocols = ['v4.channel.k8s.io']
const channel = { stdin: 0, stdout: 1, stderr: 2, error: 3 } as const

export interface ExecHandlers {
  readonly onOutput: (text: string) => void
  /** Called when the session ends. `reason` is empty if the command itself ended. */
  readonly onEnd: (reason: string) => void
}

export class ExecSession {
  readonly #socket: WebSocket
  readonly #decoder = new TextDecoder()
  /** Input that was typed before the connection was open. */
  #typedEarly = ''
  #reason = ''
  #isOpen = false

  constructor(socket: WebSocket, { onOutput, onEnd }: ExecHandlers) {
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.onopen = () => {
      this.#isOpen = true
      if (this.#typedEarly !== '') this.send(this.#typedEarly)
      this.#typedEarly = ''
    }
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
      const bytes = new Uint8Array(data)
      const text = this.#decoder.decode(bytes.subarray(1), { stream: true })
      if (bytes[0] === channel.stdout || bytes[0] === channel.stderr) onOutput(text)
      else if (bytes[0] === channel.error) this.#reason = failureOf(text)
    }
    socket.onclose = () => onEnd(this.#isOpen ? this.#reason : 'The server rejected the connection.')
  }

  send(text: string): void {
    if (this.#socket.readyState === WebSocket.CONNECTING) this.#typedEarly += text
    if (this.#socket.readyState !== WebSocket.OPEN) return
    const bytes = new TextEncoder().encode(text)
    const message = new Uint8Array(bytes.length + 1)
    message[0] = channel.stdin
    message.set(bytes, 1)
    this.#socket.send(message)
  }

  close(): void {
    this.#socket.onclose = null
    this.#socket.close()
  }
}

/** Opens the session. `path` is the path of the pod's `exec` subresource. */
export function startExec(
  openSocket: (path: string, protocols: readonly string[]) => WebSocket,
  { path, container, command }: { readonly path: string; readonly container: string; readonly command: string[] },
  handlers: ExecHandlers,
): ExecSession {
  const query = new URLSearchParams([
    ...command.map((word) => ['command', word]),
    ...[
      ['container', container],
      ['stdin', 'true'],
      ['stdout', 'true'],
      ['tty', 'true'],
    ],
  ])
  return new ExecSession(openSocket(`${path}?${query}`, protocols), handlers)
}

/** Returns the reason why the command could not run. Returns '' if the command ran, regardless of its exit code. */
function failureOf(text: string): string {
  try {
    const { status, reason, message } = JSON.parse(text) as { status?: string; reason?: string; message?: string }
    const hasRun = status === 'Success' || reason === 'NonZeroExitCode'
    return hasRun ? '' : (message ?? 'The command failed.')
  } catch {
    return text
  }
}
