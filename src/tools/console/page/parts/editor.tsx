/**
 * The editor for YAML: CodeMirror, loaded when it is first needed. It lives in a shadow root, since it makes its styles
 * while it runs: there it makes them as style sheets of its own, which the page's security policy has no need to allow.
 */
import { useEffect, useRef } from 'preact/hooks'

interface EditorProps {
  readonly label: string
  /** Where the text begins; another text begins anew. */
  readonly text: string
  readonly readOnly?: boolean
  readonly onChange?: (text: string) => void
}

export function Editor({ label, text, readOnly = false, onChange }: EditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => {
    const element = host.current!
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    let isGone = false
    let destroy = () => {}
    void import('../core/code-mirror.ts').then(({ openEditor }) => {
      if (isGone) return
      const options = { text, label, readOnly, onChange: (next: string) => latest.current?.(next) }
      destroy = openEditor(root, options)
    })
    return () => {
      isGone = true
      destroy()
    }
  }, [text, readOnly])
  return <div class="editor" ref={host} />
}
