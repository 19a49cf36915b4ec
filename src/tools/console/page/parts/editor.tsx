/**
 * The YAML editor. It uses CodeMirror, which is loaded on first use. CodeMirror creates styles at run time. In a shadow
 * root, these become constructed style sheets, which need no exception in the page's security policy.
 */
import { useEffect, useRef } from 'preact/hooks'

interface EditorProps {
  readonly label: string
  /** Initial text. If this property changes, the editor is reset to the new text. */
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
