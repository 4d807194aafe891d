import type { SidebarItem } from './page.ts';
export function writeApi(): SidebarItem[] {
  return [];
}
