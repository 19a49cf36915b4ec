/** A modal dialog that uses the browser's dialog element, which keeps the focus inside and closes on Escape. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly class?: string
}

export function Dialog({ title, onClose, children, class: kind = '' }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => element.current?.showModal(), [])
  return (
    <dialog
      ref={element}
      class={kind}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === element.current && element.current?.close()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}
