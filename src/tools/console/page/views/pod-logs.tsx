/** Shows the log of a container and follows it while the tab is open. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { objectPath } from '../../../../client/requests/resource-type.ts'
import { useConsoleContext } from '../core/kinds.ts'
import { containersOf } from '../core/object-summary.ts'
import { TextWindow } from '../core/text-window.ts'
import { Failure } from '../parts/failure.tsx'
import { ContainerField } from './container-field.tsx'
import type { ObjectView } from './object-view.ts'

const tailLines = 500

export function PodLogs({ type, object }: ObjectView) {
  const containers = containersOf(object)
  const [container, setContainer] = useState(() => containers.find(({ role }) => role === 'main')?.name ?? '')
  const [isPrevious, setPrevious] = useState(false)
  const { namespace = '', name = '' } = object.metadata
  const path = objectPath(type, { namespace, name }, 'log')
  const { log, error } = useLog({ path, container, isPrevious })
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <ContainerField containers={containers} value={container} onChange={setContainer} />
        <label class="check">
          <input
            type="checkbox"
            checked={isPrevious}
            onChange={({ currentTarget }) => setPrevious(currentTarget.checked)}
          />{' '}
          Previous run
        </label>
        <span class="hint" role="status">
          {log.isFollowing ? 'Following' : 'The log has ended'}
          {log.dropped > 0 && `, ${log.dropped.toLocaleString('en')} older lines not shown`}
        </span>
      </form>
      {error !== undefined && <Failure error={error} />}
      <Output label="Log" text={log.text} />
    </>
  )
}

interface LogSource {
  readonly path: string
  readonly container: string
  readonly isPrevious: boolean
}

/** Reads a log while the component is shown. Follows the log unless it is from the container's previous run. */
function useLog({ path, container, isPrevious }: LogSource) {
  const { client } = useConsoleContext()
  const [log, setLog] = useState({ text: '', dropped: 0, isFollowing: true })
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    const aborting = new AbortController()
    const { signal } = aborting
    const lines = new TextWindow()
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = ({ isFollowing }: { readonly isFollowing: boolean }) => {
      clearTimeout(timer)
      timer = undefined
      setLog({ text: lines.text, dropped: lines.dropped, isFollowing })
    }
    const read = async () => {
      const query = { container, follow: !isPrevious, previous: isPrevious || undefined, tailLines }
      const { body } = await client.open({ method: 'GET', path, query, accept: '*/*', signal })
      const decoder = new TextDecoder()
      for await (const chunk of body) {
        lines.append(decoder.decode(chunk, { stream: true }))
        timer ??= setTimeout(() => show({ isFollowing: true }), 100)
      }
    }
    setError(undefined)
    show({ isFollowing: true })
    read().then(
      () => show({ isFollowing: false }),
      (failure: unknown) => signal.aborted || setError(failure),
    )
    return () => {
      clearTimeout(timer)
      aborting.abort()
    }
  }, [client, path, container, isPrevious])
  return { log, error }
}

/** Shows a text that grows at its end. The view stays scrolled to the end unless the user has scrolled up. */
export function Output({ label, text }: { readonly label: string; readonly text: string }) {
  const view = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const element = view.current
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [text])
  const onScroll = () => {
    const element = view.current
    if (element !== null) isAtEnd.current = element.scrollTop + element.clientHeight > element.scrollHeight - 20
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be accessible by keyboard
    <pre class="output" aria-label={label} role="log" ref={view} onScroll={onScroll} tabIndex={0}>
      {text}
    </pre>
  )
}
