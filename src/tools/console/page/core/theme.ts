/**
 * Switches the page between light and dark. The system setting applies until the user chooses a theme. This choice is
 * the only data that the page stores in the browser.
 */

const key = 'orch-console-theme'

applyTheme(read())

export function toggleTheme(): void {
  const isDark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches
  const next = isDark ? 'light' : 'dark'
  applyTheme(next)
  try {
    localStorage.setItem(key, next)
  } catch {
    // Ignore the error: if there is no storage, the choice applies until the page is closed.
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function applyTheme(theme: string | null): void {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
}
