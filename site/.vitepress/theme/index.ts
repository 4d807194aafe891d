import '@shikijs/vitepress-twoslash/style.css';
import TwoslashFloatingVue from '@shikijs/vitepress-twoslash/client';
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import Playground from './Playground.vue';
import StartProgram from './StartProgram.vue';
import './style.css';

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, undefined, { 'home-features-before': () => h(StartProgram) }),
  enhanceApp({ app }) {
    app.use(TwoslashFloatingVue);
    app.component('Playground', Playground);
  },
};
export default theme;
