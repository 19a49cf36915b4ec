/**
 * The YAML editor: CodeMirror, loaded on first use. It runs in a shadow root because it creates styles at run time:
 * there they are constructed style sheets, which the page's security policy need not allow.
 */
import { useEffect, useRef } from 'preact/hooks'

interface EditorProps {
  readonly label: string
  /** Initial text. A different text restarts the editor. */
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
