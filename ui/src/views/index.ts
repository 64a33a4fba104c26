// The views, in the order of their tabs. A new one is a folder beside this file, and a line here.
import type { View } from '../core/view';
import { answer } from './answer';
import { diff } from './diff';
import { live } from './live';
import { objects } from './objects';
import { paths } from './paths';
import { request } from './request';
import { requests } from './requests';
import { variance } from './variance';

export const views: View[] = [answer, requests, request, paths, objects, diff, variance, live];
