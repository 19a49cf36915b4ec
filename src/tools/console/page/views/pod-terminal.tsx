/**
 * A shell in a container: its output and an input line. It is not a terminal emulator and removes escape sequences. For
 * full-screen programs, use `orchctl exec -it`.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import { objectPath } from '../../../../client/requests/resource-type.ts'
import { type ExecSession, startExec } from '../core/exec-session.ts'
import { useConsoleContext } from '../core/kinds.ts'
import { containersOf } from '../core/object-summary.ts'
import { displayText } from '../core/text.ts'
import { TextWindow } from '../core/text-window.ts'
import { Notice } from '../parts/display.tsx'
import { ContainerField } from './container-field.tsx'
import type { ObjectView } from './object-view.ts'
import { Output } from './pod-logs.tsx'

const interrupt = '\u0003'
const endOfInput = '\u0004'

export function PodTerminal({ type, object }: ObjectView) {
  const { openSocket } = useConsoleContext()
  const containers = containersOf(object).filter(({ role }) => role !== 'init')
  const [container, setContainer] = useState(() => containers[0]?.name ?? '')
  const [attempt, setAttempt] = useState(0)
  const [output, setOutput] = useState('')
  const [end, setEnd] = useState<{ readonly reason: string } | undefined>()
  const session = useRef<ExecSession | undefined>(undefined)
  const { namespace = '', name = '' } = object.metadata
  useEffect(() => {
    const lines = new TextWindow()
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = () => {
      timer = undefined
      setOutput(lines.text)
    }
    setOutput('')
    setEnd(undefined)
    const path = objectPath(type, { namespace, name }, 'exec')
    session.current = startExec(
      openSocket,
      { path, container, command: ['sh'] },
      {
        onOutput: (text) => {
          lines.append(text)
          timer ??= setTimeout(show, 30)
        },
        onEnd: (reason) => setEnd({ reason }),
      },
    )
    return () => {
      clearTimeout(timer)
      session.current?.close()
    }
  }, [openSocket, namespace, name, container, attempt])
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <ContainerField containers={containers} value={container} onChange={setContainer} />
      </form>
      <Output label="Terminal output" text={output} />
      {end === undefined ? (
        <CommandLine onText={(text) => session.current?.send(text)} />
      ) : (
        <Notice
          tone={end.reason === '' ? 'info' : 'warn'}
          title={displayText(end.reason, 500) || 'The shell has ended'}
        >
          <button type="button" onClick={() => setAttempt(attempt + 1)}>
            Start a new shell
          </button>
        </Notice>
      )}
    </>
  )
}

/** The input line. Sends input line by line, but Ctrl+C and Ctrl+D immediately. */
function CommandLine({ onText }: { readonly onText: (text: string) => void }) {
  const [line, setLine] = useState('')
  const onKeyDown = (event: KeyboardEvent) => {
    const control = event.ctrlKey ? { c: interrupt, d: endOfInput }[event.key] : undefined
    const hasSelection = String(getSelection()) !== ''
    if (control === undefined || (control === interrupt && hasSelection)) return
    event.preventDefault()
    onText(control)
    setLine('')
  }
  return (
    <form
      class="command-line"
      onSubmit={(event) => {
        event.preventDefault()
        onText(`${line}\n`)
        setLine('')
      }}
    >
      <label for="command-line">Input</label>
      <input
        id="command-line"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={line}
        onInput={({ currentTarget }) => setLine(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit">Send</button>
    </form>
  )
}
