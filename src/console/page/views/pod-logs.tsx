/** The log of a container, followed while the tab is open. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { objectPath } from '../../../client/resource-type.ts'
import { useSurroundings } from '../core/kinds.ts'
import { containersOf } from '../core/object-summary.ts'
import { TextWindow } from '../core/text-window.ts'
import { Failure } from '../parts/failure.tsx'
import { ContainerField } from './container-field.tsx'
import type { ObjectView } from './object-view.ts'

const tailLines = 500

export function PodLogs({ type, object }: ObjectView) {
  const { client } = useSurroundings()
  const containers = containersOf(object)
  const [container, setContainer] = useState(() => containers.find(({ role }) => role === 'main')?.name ?? '')
  const [isPrevious, setPrevious] = useState(false)
  const [shownLog, setShownLog] = useState({ text: '', dropped: 0, state: 'following' as 'following' | 'ended' })
  const [error, setError] = useState<unknown>()
  const { namespace = '', name = '' } = object.metadata
  useEffect(() => {
    const aborting = new AbortController()
    const { signal } = aborting
    const lines = new TextWindow()
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = (state: 'following' | 'ended') => {
      clearTimeout(timer)
      timer = undefined
      setShownLog({ text: lines.text, dropped: lines.dropped, state })
    }
    const read = async () => {
      const query = { container, follow: !isPrevious, previous: isPrevious || undefined, tailLines }
      const path = objectPath(type, { namespace, name }, 'log')
      const { body } = await client.open({ method: 'GET', path, query, accept: '*/*', signal })
      const decoder = new TextDecoder()
      for await (const chunk of body) {
        lines.append(decoder.decode(chunk, { stream: true }))
        timer ??= setTimeout(show, 100, 'following')
      }
    }
    setError(undefined)
    show('following')
    read().then(
      () => show('ended'),
      (failure: unknown) => signal.aborted || setError(failure),
    )
    return () => {
      clearTimeout(timer)
      aborting.abort()
    }
  }, [client, namespace, name, container, isPrevious])
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
          {shownLog.state === 'following' ? 'Following' : 'The log has ended'}
          {shownLog.dropped > 0 && `, ${shownLog.dropped.toLocaleString('en')} older lines not shown`}
        </span>
      </form>
      {error !== undefined && <Failure error={error} />}
      <Output label="Log" text={shownLog.text} />
    </>
  )
}

/** Text that grows at its end. It stays scrolled to the end unless the reader scrolled up. */
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <pre class="output" aria-label={label} role="log" ref={view} onScroll={onScroll} tabIndex={0}>
      {text}
    </pre>
  )
}
