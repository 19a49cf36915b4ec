/** Icons in the color of the text. No information is conveyed by an icon alone. */

const paths = {
  menu: 'M3 5h14M3 10h14M3 15h14',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12Zm4.5-1.5L17 17',
  sun: 'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm0-11v2m0 12v2M2 10h2m12 0h2M4.3 4.3l1.4 1.4m8.6 8.6 1.4 1.4m0-11.4-1.4 1.4m-8.6 8.6-1.4 1.4',
  up: 'm5 12 5-5 5 5',
  down: 'm5 8 5 5 5-5',
  right: 'm8 5 5 5-5 5',
  close: 'm5 5 10 10M15 5 5 15',
} as const

export function Icon({ name }: { readonly name: keyof typeof paths }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
