/** Small components that all pages use: external texts, ages, chips and notices. */
import type { ComponentChildren } from 'preact'
import { humanDuration } from '../../../../base/time/human-duration.ts'
import { colourOf, type Owner } from '../core/ownership.ts'
import { useNow } from '../core/store.ts'
import { displayText } from '../core/text.ts'

/** Shows an age. The tooltip contains the exact time. */
export function Age({ since }: { readonly since: string | undefined }) {
  const now = useNow()
  if (since === undefined || since === '') return null
  const time = Date.parse(since)
  if (Number.isNaN(time)) return <>{displayText(since, 40)}</>
  return (
    <time dateTime={since} title={since}>
      {humanDuration(now - time)}
    </time>
  )
}

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info'

export function Chip({ tone = 'plain', children, title }: ChipProps) {
  return (
    <span class={`chip ${tone}`} title={title}>
      {children}
    </span>
  )
}

interface ChipProps {
  readonly tone?: Tone
  readonly title?: string
  readonly children: ComponentChildren
}

/** Shows the owner of a field. */
export function OwnerChip({ owner }: { readonly owner: Owner }) {
  const { manager, operation, subresource, time } = owner
  const how = `${operation}${subresource === '' ? '' : ` of ${subresource}`}${time === '' ? '' : `, ${time}`}`
  return (
    <span class={`owner ${colourOf(manager)}`} title={`Owned by ${displayText(manager, 100)} (${how})`}>
      {displayText(manager, 40)}
    </span>
  )
}

/** Shows a message in a box. */
export function Notice({ tone = 'info', title, children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <strong>{title}</strong>
      {children !== undefined && <div>{children}</div>}
    </div>
  )
}

interface NoticeProps {
  readonly tone?: Tone
  readonly title: string
  readonly children?: ComponentChildren
}

export function Loading({ what = 'Loading' }: { readonly what?: string }) {
  return (
    <p class="loading" role="status">
      {what}…
    </p>
  )
}

/** The header of a page. After navigation, its title receives the focus, so that screen readers start there. */
export function PageHead({ title, children, crumbs }: PageHeadProps) {
  return (
    <header class="page-head">
      {crumbs}
      <div class="page-title">
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </div>
    </header>
  )
}

interface PageHeadProps {
  readonly title: ComponentChildren
  readonly crumbs?: ComponentChildren
  readonly children?: ComponentChildren
}

export function Card({ title, children, actions, wide }: CardProps) {
  return (
    <section class={wide ? 'card wide' : 'card'}>
      <header>
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  )
}

interface CardProps {
  readonly title: ComponentChildren
  readonly children: ComponentChildren
  readonly actions?: ComponentChildren
  readonly wide?: boolean
}

/** Makes wide content scrollable independently of the page, including by keyboard. */
export function Scrolling({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be accessible by keyboard
    <section class="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
